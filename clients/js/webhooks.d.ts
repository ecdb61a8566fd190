/** Seconds by which the sender's time may differ from the receiver's, unless told otherwise. */
export declare const TOLERANCE: 300;

/** Why a notification isn't accepted; docs/webhooks.md says what to do about each. */
export type Reason =
  | "missing_header"
  | "malformed_header"
  | "too_old"
  | "too_new"
  | "unknown_key"
  | "wrong_signature"
  | "wrong_claims"
  | "wrong_body"
  | "unknown_body"
  | "keys_unavailable";

export declare const Reason: {
  readonly MISSING_HEADER: "missing_header";
  readonly MALFORMED_HEADER: "malformed_header";
  readonly TOO_OLD: "too_old";
  readonly TOO_NEW: "too_new";
  readonly UNKNOWN_KEY: "unknown_key";
  readonly WRONG_SIGNATURE: "wrong_signature";
  readonly WRONG_CLAIMS: "wrong_claims";
  readonly WRONG_BODY: "wrong_body";
  readonly UNKNOWN_BODY: "unknown_body";
  readonly KEYS_UNAVAILABLE: "keys_unavailable";
};

/** A notification that must not be trusted; `reason` says why. */
export declare class VerificationError extends Error {
  readonly name: "VerificationError";
  readonly reason: Reason;
  constructor(reason: Reason, sentence: string, options?: { cause?: unknown });
}

export type Kind = "task" | "message" | "statusUpdate" | "artifactUpdate";

/** A genuine notification. */
export interface Notification {
  /** Equal on every attempt at the same notification: remember it, and skip what was seen. */
  readonly id: string;
  /** Seconds since 1970, of this attempt; a JWT's is a few seconds early. */
  readonly timestamp: number;
  /** Grows along a webhook's notifications, with gaps; null where the id holds none. */
  readonly number: number | null;
  readonly kind: Kind;
  /** The StreamResponse (A2A specification section 4.3.3): an object with the one member `kind`. */
  readonly event: Readonly<Record<string, unknown>>;
  /** The Task, Message, TaskStatusUpdateEvent or TaskArtifactUpdateEvent. */
  readonly content: Readonly<Record<string, unknown>>;
  /** The task that it is about; "" for a message outside a task. */
  readonly taskId: string;
}

/** Of a request, in any case: Node's `request.headers`, a fetch API's `Headers`, or any object. */
export type HeadersLike =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { entries(): Iterable<[string, string]> };

/** A JWK set (RFC 7517), as JSON. Keys of other kinds than a profile needs are passed over. */
export interface JwkSet {
  readonly keys: readonly object[];
}

interface Common {
  /** Seconds by which the sender's time may differ from `now`: 300 when left out. */
  readonly tolerance?: number;
  /** Seconds since 1970; this machine's time when left out. */
  readonly now?: number;
}

export interface VerifyOptions extends Common {
  /** The sender's published keys: a `Jwks` with their address, or a set that was loaded already. */
  readonly jwks?: Jwks | JwkSet;
  /** Public keys as `whpk_…` text. */
  readonly keys?: readonly string[];
  /** The `whsec_…` secret that was registered as the webhook's token; several during its rotation. */
  readonly secret?: string | readonly string[];
}

export interface VerifyJwtOptions extends Common {
  readonly jwks: Jwks | JwkSet;
  /**
   * What `iss` must be: the agent's address, followed by `/` and the tenant if there is one. null for any whose key is in
   * `jwks`.
   */
  readonly issuer: string | null;
}

/**
 * Check a notification's webhook-signature (Standard Webhooks 1.0.0, v1a and v1), and read it.
 *
 * One signature that fits one key makes it genuine. `body` is what was received, byte for byte: parsed and printed
 * again, it wouldn't fit. Rejects with a VerificationError when the notification must not be trusted, and with a
 * TypeError for a mistake of the caller's: no key, a key that can't be read, a body that isn't bytes.
 */
export declare function verify(body: Uint8Array, headers: HeadersLike, options: VerifyOptions): Promise<Notification>;

/**
 * Check the JWT (RS256) in a notification's Authorization header, and read it.
 *
 * Its claims are `iat`, `exp` and `iss`, `jti` (the webhook-id), `taskId` (of the body's task) and
 * `request_body_sha256` (of the body's bytes, in hex). It has no `aud`: the issuer tells one tenant's tokens from
 * another's, and the task against those that you know the rest. Rejects as `verify` does.
 */
export declare function verifyJwt(
  body: Uint8Array,
  headers: HeadersLike,
  options: VerifyJwtOptions,
): Promise<Notification>;

export interface JwksOptions {
  /** Gets the bytes at an address; the global fetch, without redirects, when left out. */
  readonly fetch?: (url: string) => Promise<Uint8Array | string>;
  /** Seconds that never go back. */
  readonly clock?: () => number;
  /** Whether `http` to this very machine will do, for tests. */
  readonly allowLoopback?: boolean;
}

/**
 * The sender's published keys, by their address. Make one, keep it, and give it to `verify` or `verifyJwt`.
 *
 * Keys are loaded when they are first needed and kept for an hour; when they can't be loaded anew then, the old ones do
 * for a day. What fits no key makes it load them anew, since the sender may have a new one, but never twice within a
 * minute, whatever anybody sends (5 s after a load that failed).
 */
export declare class Jwks {
  /** `url` is https, and from the Agent Card or from whoever runs the agent; never from a notification. */
  constructor(url: string, options?: JwksOptions);
  /** The keys to try first. Rejects with a VerificationError when there are none. */
  current(): Promise<JwkSet>;
  /** The keys to try when `tried` didn't do; undefined when there are none, or it isn't time to look yet. */
  newer(tried: JwkSet): Promise<JwkSet | undefined>;
}
