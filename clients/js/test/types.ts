// Compiles under tsc --strict, and only as it stands: what the types allow, and what they refuse.

import { Jwks, type Notification, Reason, VerificationError, verify, verifyJwt } from "herald-webhooks";

declare const body: Uint8Array;
declare const nodes: { [name: string]: string | string[] | undefined };

const keys = new Jwks("https://agent.example/", { fetch: async () => body, clock: () => 0, allowLoopback: true });

export async function receive(): Promise<string> {
  const found: Notification[] = [
    await verify(body, nodes, { jwks: keys }),
    await verify(body, new Headers(), { jwks: { keys: [{ kty: "OKP" }] }, tolerance: 60, now: 7 }),
    await verify(body, new Map<string, string>(), { secret: ["whsec_a", "whsec_b"], keys: ["whpk_a"] }),
    await verifyJwt(body, nodes, { jwks: keys, issuer: "https://agent.example" }),
  ];
  const [first] = found;
  return first ? first.id + first.taskId + (first.number ?? 0).toFixed() + String(first.event[first.kind]) : "";
}

export function reason(error: unknown): Reason | undefined {
  if (!(error instanceof VerificationError)) return undefined;
  const known: "too_old" = Reason.TOO_OLD;
  // @ts-expect-error there is no such reason
  if (error.reason === "too_late") return known;
  return error.reason;
}

// @ts-expect-error a body is bytes
void verify("{}", nodes, { jwks: keys });
// @ts-expect-error a token is verified with keys
void verifyJwt(body, nodes, { issuer: null });
// @ts-expect-error an issuer is expected, or none is said to be
void verifyJwt(body, nodes, { jwks: keys });
// @ts-expect-error an option that isn't there
void verify(body, nodes, { jwk: keys });
