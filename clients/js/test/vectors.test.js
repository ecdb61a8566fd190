// The verifier says of every request in ../vectors/vectors.json what stands there, as the Python one does.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Jwks, VerificationError, verify, verifyJwt } from "herald-webhooks";

const FILE = process.env.VECTORS ?? new URL("../../vectors/vectors.json", import.meta.url);
const VECTORS = JSON.parse(readFileSync(FILE, "utf8"));
const BY_NAME = new Map(VECTORS.cases.map((each) => [each.name, each]));

/** Headers as they came, where a name may stand twice. */
class Pairs {
  constructor(pairs) {
    this.entries = () => pairs;
  }
}

/** What the verifier says of a case: what it read, or a reason, or "mistake". */
async function said({ profile, headers, body, bodyBase64, options }, jwks) {
  const given = { ...options };
  if (jwks) given.jwks = jwks;
  else if ("jwks" in options) given.jwks = VECTORS.sets[options.jwks];
  const raw = bodyBase64 === undefined ? Buffer.from(body) : Buffer.from(bodyBase64, "base64");
  try {
    const got = await { signature: verify, jwt: verifyJwt }[profile](raw, new Pairs(headers), given);
    assert.deepEqual(got.event, JSON.parse(raw.toString()));
    assert.equal(got.content, got.event[got.kind]);
    const { id, timestamp, number, kind, taskId } = got;
    return { id, timestamp, number, kind, taskId };
  } catch (error) {
    if (error instanceof VerificationError) return error.reason;
    if (error instanceof TypeError) return "mistake";
    throw error;
  }
}

for (const each of VECTORS.cases) {
  test(`a request: ${each.name}`, async () => assert.deepEqual(await said(each), each.expect));
}

for (const { name, steps } of VECTORS.walks) {
  test(`keys: ${name}`, async () => {
    let [time, answer, loads] = [0, null, 0];
    const fetch = async (url) => {
      assert.equal(url, "https://agent.example/jwks.json");
      loads += 1;
      if (answer === null) throw new Error("connection refused");
      return Buffer.from(answer in VECTORS.sets ? JSON.stringify(VECTORS.sets[answer]) : answer);
    };
    const jwks = new Jwks("https://agent.example/jwks.json", { fetch, clock: () => 1_000 + time });
    for (const step of steps) {
      time = step.at;
      answer = step.answer;
      const got = await said(BY_NAME.get(step.case), jwks);
      const short = typeof got === "object" ? "accepted" : got;
      assert.deepEqual([short, loads], [step.expect, step.loads], JSON.stringify(step));
    }
  });
}
