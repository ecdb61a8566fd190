/**
 * For receivers: check that a notification is genuine, and read it.
 *
 *     import { Jwks, VerificationError, verify } from "herald-webhooks";
 *
 *     const jwks = new Jwks("https://agent.example/.well-known/jwks.json"); // one for the process: it keeps what it loaded
 *     const notification = await verify(rawBody, request.headers, { jwks }); // or throws a VerificationError
 *
 * The same as herald/webhooks.py, which explains more; both are held by clients/vectors/vectors.json. webhooks.d.ts has
 * the types and what each function takes.
 */

import { createHash, createHmac, createPublicKey, timingSafeEqual, verify as verifySignature } from "node:crypto";

export const TOLERANCE = 300; // seconds
const MAX_SIGNATURES = 16; // more than any rotation needs; each costs a check
const MAX_TOKEN = 8_192; // characters of a JWT: it is read before anybody has vouched for it
const RSA_BITS = { least: 2_048, most: 8_192 };

const KEEP = 3_600; // seconds for which loaded keys are used without a question
const KEEP_AT_MOST = 86_400; // seconds, when they can't be loaded anew: as long as two keys sign around a rotation
const PAUSE = 60; // seconds between two loads, whatever anybody sends
const PAUSE_AFTER_FAILURE = 5;
const LOAD_SECONDS = 10;
const MAX_JWKS = 65_536; // bytes
const MAX_KEYS = 64;

const ID = /^[!-\-/-~]{1,256}$/; // no full stop: it parts what is signed
const MESSAGE_ID = /^msg_[A-Za-z0-9_-]+_([0-9]{12})$/;
const SECOND = /^[0-9]{1,12}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const BASE64URL = /^[A-Za-z0-9_-]*$/;
const KINDS = new Set(["task", "message", "statusUpdate", "artifactUpdate"]);

/** Why a notification isn't accepted. */
export const Reason = Object.freeze({
  MISSING_HEADER: "missing_header", // a header of the profile isn't there, or twice
  MALFORMED_HEADER: "malformed_header",
  TOO_OLD: "too_old", // sent longer ago than the tolerance: perhaps a replay
  TOO_NEW: "too_new", // from the future: look at this machine's clock
  UNKNOWN_KEY: "unknown_key", // of a JWT: no RSA key of the set has its kid
  WRONG_SIGNATURE: "wrong_signature", // no signature fits any key
  WRONG_CLAIMS: "wrong_claims", // a genuine JWT, but not for this: another issuer, another task, a claim missing
  WRONG_BODY: "wrong_body", // a genuine JWT, but the body isn't the one that was sent
  UNKNOWN_BODY: "unknown_body", // genuine, but no A2A StreamResponse
  KEYS_UNAVAILABLE: "keys_unavailable", // the sender's keys can't be loaded at the moment
});

/** A notification that must not be trusted; `reason` says why. */
export class VerificationError extends Error {
  constructor(reason, sentence, options) {
    super(sentence, options);
    this.name = "VerificationError";
    this.reason = reason;
  }
}

/** Check a notification's webhook-signature, and read it. One signature that fits one key makes it genuine. */
export async function verify(body, headers, { jwks, keys = [], secret = [], tolerance = TOLERANCE, now } = {}) {
  const raw = rawBytes(body);
  const known = {
    public: [...keys.map(publicKey), ...(jwks === undefined || jwks instanceof Jwks ? [] : ed25519Keys(jwks))],
    secrets: (typeof secret === "string" ? [secret] : secret).map(secretKey),
  };
  if (!known.public.length && !known.secrets.length && !(jwks instanceof Jwks)) {
    throw new TypeError("verify needs a key: jwks, keys or secret");
  }
  const told = found(headers, "webhook-id", "webhook-timestamp", "webhook-signature");
  const { id, second, signatures } = signed(told);
  checkTime(second, now ?? Date.now() / 1000, tolerance);
  const content = Buffer.concat([Buffer.from(`${id}.${told["webhook-timestamp"]}.`), raw]);
  if (fits(signatures, content, known)) return read(id, second, raw);
  if (jwks instanceof Jwks) {
    for await (const loaded of sets(jwks)) {
      if (fits(signatures, content, { public: ed25519Keys(loaded), secrets: [] })) return read(id, second, raw);
    }
  }
  throw new VerificationError(Reason.WRONG_SIGNATURE, "no signature of the notification fits any of the keys");
}

/** Check the JWT in a notification's Authorization header, and read it. */
export async function verifyJwt(body, headers, { jwks, issuer, tolerance = TOLERANCE, now } = {}) {
  const raw = rawBytes(body);
  if (typeof issuer !== "string" && issuer !== null) throw new TypeError("verifyJwt needs the issuer, or null for any");
  if (!(jwks instanceof Jwks)) listed(jwks);
  const token = readToken(found(headers, "authorization").authorization);
  await checkToken(token, jwks);
  const claims = object(token.payload) ?? malformed("the token holds no claims");
  checkClaims(claims, issuer);
  const time = now ?? Date.now() / 1000;
  checkTime(claims.iat, time, tolerance);
  if (claims.exp <= time) throw new VerificationError(Reason.TOO_OLD, "the notification's token has expired");
  if (createHash("sha256").update(raw).digest("hex") !== claims.request_body_sha256) {
    throw new VerificationError(Reason.WRONG_BODY, "the body isn't the one that the token was made for");
  }
  const toldId = value(headers, "webhook-id");
  if (toldId && toldId !== claims.jti) wrongClaim("jti", "isn't the webhook-id");
  const notification = read(claims.jti, Math.floor(claims.iat), raw);
  if (notification.taskId !== claims.taskId) wrongClaim("taskId", "isn't the task in the body");
  return notification;
}

/**
 * The sender's published keys, by their address. Make one, keep it, and give it to `verify` or `verifyJwt`.
 *
 * Keys are loaded when they are first needed and kept for an hour; when they can't be loaded anew then, the old ones do
 * for a day. What fits no key makes it load them anew, since the sender may have a new one, but never twice within a
 * minute, whatever anybody sends (5 s after a load that failed).
 */
export class Jwks {
  #url;
  #fetch;
  #clock;
  #loaded; // { keys, at }
  #notBefore = -Infinity; // the next load
  #loading; // a load that is under way, which everybody waits for

  constructor(url, { fetch = get, clock = () => performance.now() / 1000, allowLoopback = false } = {}) {
    checkAddress(url, allowLoopback);
    this.#url = url;
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /** The keys to try first. Throws a VerificationError when there are none. */
  async current() {
    const fresh = this.#youngerThan(KEEP);
    if (fresh) return fresh;
    const failure = this.#clock() >= this.#notBefore ? await this.#load() : undefined;
    const usable = this.#youngerThan(KEEP_AT_MOST);
    if (usable) return usable;
    const sentence = "the sender's keys can't be loaded at the moment";
    throw new VerificationError(Reason.KEYS_UNAVAILABLE, sentence, { cause: failure });
  }

  /** The keys to try when `tried` didn't do; undefined when there are none, or it isn't time to look yet. */
  async newer(tried) {
    if (this.#loaded?.keys === tried && this.#clock() >= this.#notBefore) await this.#load();
    return this.#loaded?.keys === tried ? undefined : this.#loaded?.keys;
  }

  #youngerThan(seconds) {
    return this.#loaded && this.#clock() < this.#loaded.at + seconds ? this.#loaded.keys : undefined;
  }

  /** Load the keys, once for all who wait; resolves to what went wrong, if anything did, and the old ones stay. */
  #load() {
    this.#loading ??= this.#loadNow().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #loadNow() {
    try {
      const keys = parsed(await this.#fetch(this.#url));
      this.#loaded = { keys, at: this.#clock() };
      this.#notBefore = this.#loaded.at + PAUSE;
      return undefined;
    } catch (error) {
      this.#notBefore = this.#clock() + PAUSE_AFTER_FAILURE;
      return error;
    }
  }
}

/** The sets to try one after the other. */
async function* sets(jwks) {
  if (!(jwks instanceof Jwks)) {
    yield jwks;
    return;
  }
  const current = await jwks.current();
  yield current;
  const newer = await jwks.newer(current);
  if (newer) yield newer;
}

// ----------------------------------------------------------------------------------------------- loading keys ----

function checkAddress(url, allowLoopback) {
  const { protocol, hostname, username, password } = new URL(url);
  if (protocol === "https:" && !username && !password) return;
  if (allowLoopback && protocol === "http:" && /^(localhost|127(\.[0-9]+){3}|\[::1\])$/.test(hostname)) return;
  throw new TypeError("the address of a JWK set must be https, or http to this machine with allowLoopback: true");
}

async function get(url) {
  const answer = await fetch(url, {
    headers: { accept: "application/jwk-set+json, application/json" },
    redirect: "error", // it could lead away from https
    signal: AbortSignal.timeout(LOAD_SECONDS * 1000),
  });
  if (answer.status !== 200) {
    await answer.body?.cancel();
    throw new Error(`the address of the JWK set answered ${answer.status}`);
  }
  const pieces = [];
  let length = 0;
  for await (const piece of answer.body) {
    pieces.push(piece);
    length += piece.length;
    if (length > MAX_JWKS) break; // leaving the loop hangs up
  }
  return Buffer.concat(pieces);
}

/** A JWK set that can be used, or an error. */
function parsed(text) {
  if (text.length > MAX_JWKS) throw new Error("the JWK set is too long");
  const set = JSON.parse(typeof text === "string" ? text : Buffer.from(text).toString());
  if (listed(set).length > MAX_KEYS) throw new Error("the JWK set holds too many keys");
  ed25519Keys(set);
  return set;
}

// ---------------------------------------------------------------------------------------------------- headers ----

function rawBytes(body) {
  if (!(body instanceof Uint8Array)) {
    throw new TypeError("verify needs the raw body as bytes (a Buffer), not parsed JSON and not text");
  }
  return body;
}

/** A header's value, of a Headers object or a plain one; "" when it isn't there. */
function value(headers, name) {
  const entries = typeof headers.entries === "function" ? [...headers.entries()] : Object.entries(headers);
  const values = entries.filter(([told, text]) => told.toLowerCase() === name && text !== undefined);
  if (values.length > 1 || Array.isArray(values[0]?.[1])) {
    throw new VerificationError(Reason.MISSING_HEADER, `the header ${name} is there twice`);
  }
  return values.length ? String(values[0][1]) : "";
}

function found(headers, ...names) {
  const told = Object.fromEntries(names.map((name) => [name, value(headers, name)]));
  for (const name of names) {
    if (!told[name]) throw new VerificationError(Reason.MISSING_HEADER, `the header ${name} is missing`);
  }
  return told;
}

function malformed(sentence) {
  throw new VerificationError(Reason.MALFORMED_HEADER, sentence);
}

// ------------------------------------------------------------------------------------------ webhook-signature ----

/** Id, second and signatures, each as { version, bytes }; signatures of unknown versions are passed over. */
function signed(told) {
  const id = told["webhook-id"];
  if (!ID.test(id)) malformed("webhook-id holds something else than visible ASCII, or a full stop, or too much");
  if (!SECOND.test(told["webhook-timestamp"])) malformed("webhook-timestamp isn't a whole number of seconds");
  const signatures = [];
  for (const token of trimmed(told["webhook-signature"]).split(/[ \t]+/).slice(0, MAX_SIGNATURES)) {
    const comma = token.indexOf(",");
    if (comma < 0) malformed("webhook-signature isn't a list of version,base64");
    const [version, text] = [token.slice(0, comma), token.slice(comma + 1)];
    if (version !== "v1" && version !== "v1a") continue;
    if (!BASE64.test(text)) malformed("webhook-signature holds text that isn't base64");
    signatures.push({ version, bytes: Buffer.from(text, "base64") });
  }
  return { id, second: Number(told["webhook-timestamp"]), signatures };
}

function trimmed(text) {
  return text.replace(/^[ \t]+|[ \t]+$/g, "");
}

function checkTime(second, now, tolerance) {
  if (second < now - tolerance) {
    throw new VerificationError(Reason.TOO_OLD, `the notification was sent ${Math.round(now - second)} s ago`);
  }
  if (second > now + tolerance) {
    const ahead = Math.round(second - now);
    throw new VerificationError(Reason.TOO_NEW, `the notification comes from ${ahead} s in the future`);
  }
}

/** Whether one of the signatures is made by one of the keys of its own kind. */
function fits(signatures, content, known) {
  return signatures.some(({ version, bytes }) =>
    version === "v1a"
      ? known.public.some((key) => verifySignature(null, content, key, bytes))
      : known.secrets.some((secret) => {
          const expected = createHmac("sha256", secret).update(content).digest();
          return expected.length === bytes.length && timingSafeEqual(expected, bytes);
        }),
  );
}

// -------------------------------------------------------------------------------------------------------- JWT ----

function readToken(authorization) {
  const space = authorization.indexOf(" ");
  const scheme = space < 0 ? authorization : authorization.slice(0, space);
  if (scheme.toLowerCase() !== "bearer") malformed("the Authorization header isn't of the scheme Bearer");
  const text = space < 0 ? "" : authorization.slice(space).replace(/^ +| +$/g, "");
  const parts = text.split(".");
  const [head, payload, signature] = parts.map(base64url);
  const header = head && object(head);
  if (text.length > MAX_TOKEN || parts.length !== 3 || !header || !payload || !signature) {
    malformed("the Authorization header holds no JWT");
  }
  if (header.alg !== "RS256") malformed("the token isn't signed with RS256");
  if (Object.hasOwn(header, "crit")) malformed("the token's header asks for what isn't known here");
  if (typeof header.kid !== "string" || !header.kid) malformed("the token names no key");
  return { kid: header.kid, signed: Buffer.from(`${parts[0]}.${parts[1]}`), signature, payload };
}

/** Hold the token's signature against the keys. A new set is asked for where its key isn't known, and not else. */
async function checkToken(token, jwks) {
  for await (const keys of sets(jwks)) {
    const known = rsaKeys(keys, token.kid);
    if (known.some((key) => verifySignature("sha256", token.signed, key, token.signature))) return;
    if (known.length) {
      throw new VerificationError(Reason.WRONG_SIGNATURE, "the token's signature doesn't fit its key");
    }
  }
  throw new VerificationError(Reason.UNKNOWN_KEY, "no RSA key of the set has the token's kid");
}

/** The keys of this name that RS256 may use; others are passed over. */
function rsaKeys(jwks, kid) {
  return listed(jwks)
    .filter(({ kty, use = "sig", alg = "RS256" }) => kty === "RSA" && use === "sig" && alg === "RS256")
    .filter((key) => key.kid === kid && isUsableRsa(key))
    .map(({ n, e }) => createPublicKey({ key: { kty: "RSA", n, e }, format: "jwk" }));
}

function isUsableRsa({ n, e }) {
  const [modulus, exponent] = [integer(n), integer(e)];
  const bits = modulus.toString(2).length;
  const odd = modulus % 2n === 1n && exponent % 2n === 1n;
  return bits >= RSA_BITS.least && bits <= RSA_BITS.most && odd && exponent >= 3n && exponent < 2n ** 32n;
}

function integer(text) {
  const bytes = base64url(text) ?? Buffer.alloc(0);
  return bytes.length && bytes.length <= RSA_BITS.most / 4 ? BigInt(`0x${bytes.toString("hex")}`) : 0n;
}

/** What can be said of claims without the time and the body. They are the sender's: the signature was checked. */
function checkClaims(claims, issuer) {
  for (const name of ["iat", "exp"]) {
    const told = claims[name];
    if (typeof told !== "number" || !(told >= 0 && told < 1e12)) {
      wrongClaim(name, "is missing, or isn't a number of seconds");
    }
  }
  for (const name of ["iss", "jti", "taskId", "request_body_sha256"]) {
    if (typeof claims[name] !== "string" || (!claims[name] && name !== "taskId")) {
      wrongClaim(name, "is missing, or isn't text");
    }
  }
  if (Object.hasOwn(claims, "aud")) wrongClaim("aud", "names somebody: it wasn't made for notifications");
  if (issuer !== null && claims.iss !== issuer) wrongClaim("iss", "isn't the issuer that is expected");
}

function wrongClaim(name, sentence) {
  throw new VerificationError(Reason.WRONG_CLAIMS, `the token's ${name} ${sentence}`);
}

// ------------------------------------------------------------------------------------------------------- JSON ----

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A JSON object (RFC 8259: UTF-8); undefined for anything else. */
function object(bytes) {
  try {
    const told = JSON.parse(UTF8.decode(bytes));
    return isObject(told) ? told : undefined;
  } catch {
    return undefined;
  }
}

function isObject(told) {
  return typeof told === "object" && told !== null && !Array.isArray(told);
}

function read(id, timestamp, body) {
  const event = object(body);
  const kinds = event ? Object.keys(event).filter((name) => KINDS.has(name)) : [];
  if (kinds.length !== 1 || !isObject(event[kinds[0]])) {
    throw new VerificationError(Reason.UNKNOWN_BODY, "the body isn't an A2A StreamResponse");
  }
  const [kind] = kinds;
  const content = event[kind];
  const match = MESSAGE_ID.exec(id);
  const told = content[kind === "task" ? "id" : "taskId"];
  const taskId = typeof told === "string" ? told : "";
  return Object.freeze({ id, timestamp, number: match ? Number(match[1]) : null, kind, event, content, taskId });
}

// ------------------------------------------------------------------------------------------------------- keys ----

function listed(jwks) {
  if (!isObject(jwks) || !Array.isArray(jwks.keys)) throw new TypeError('a JWK set is an object with an array "keys"');
  return jwks.keys.filter(isObject);
}

function ed25519Keys(jwks) {
  return listed(jwks)
    .filter((key) => key.kty === "OKP" && key.crv === "Ed25519")
    .map((key) => ed25519(base64url(key.x)));
}

function publicKey(text) {
  if (typeof text !== "string" || !text.startsWith("whpk_")) throw new TypeError("a public key is whpk_ and base64");
  return ed25519(unpadded(text.slice("whpk_".length)));
}

function secretKey(text) {
  const key = typeof text === "string" ? unpadded(text.replace(/^whsec_/, "")) : Buffer.alloc(0);
  if (key.length < 24 || key.length > 64) throw new TypeError("a secret is whsec_ and base64 of 24 to 64 bytes");
  return key;
}

/** Base64 with or without its padding; what can't be read is empty, and refused by its length. */
function unpadded(text) {
  const bare = text.replace(/=+$/, "");
  return /^[A-Za-z0-9+/]*$/.test(bare) && bare.length % 4 !== 1 ? Buffer.from(bare, "base64") : Buffer.alloc(0);
}

/** As JWTs and JWKs write it, without padding; undefined for anything else. */
function base64url(text) {
  const readable = typeof text === "string" && BASE64URL.test(text) && text.length % 4 !== 1;
  return readable ? Buffer.from(text, "base64url") : undefined;
}

function ed25519(raw) {
  if (raw?.length !== 32) throw new TypeError("an Ed25519 public key is 32 bytes, in base64");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: raw.toString("base64url") }, format: "jwk" });
}
