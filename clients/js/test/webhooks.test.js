// What the table of vectors can't say: kinds of headers, clocks, mistakes, and keys over HTTP.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Jwks, Reason, VerificationError, verify, verifyJwt } from "herald-webhooks";

const FILE = process.env.VECTORS ?? new URL("../../vectors/vectors.json", import.meta.url);
const { cases, sets } = JSON.parse(readFileSync(FILE, "utf8"));
const GENUINE = cases.find(({ name }) => name === "v1a, by the published keys");
const BODY = Buffer.from(GENUINE.body);
const HEADERS = Object.fromEntries(GENUINE.headers);
const NOW = GENUINE.options.now;
const JWKS = sets.published;

function refused(reason) {
  return (error) => error instanceof VerificationError && error.name === "VerificationError" && error.reason === reason;
}

test("headers may be Node's, or those of the fetch API", async () => {
  const nodes = { host: "client.example", "set-cookie": ["a", "b"], via: undefined, ...HEADERS };
  for (const headers of [nodes, new Headers(HEADERS), new Map(Object.entries(HEADERS))]) {
    assert.equal((await verify(BODY, headers, { jwks: JWKS, now: NOW })).taskId, "mzxw6ytboi4dgnbvgy3tqojqmf");
  }
});

test("a header of several values is refused", async () => {
  const headers = { ...HEADERS, "webhook-id": [HEADERS["webhook-id"], "x"] };
  await assert.rejects(verify(BODY, headers, { jwks: JWKS, now: NOW }), refused(Reason.MISSING_HEADER));
});

test("bytes of any kind will do, and text and parsed JSON never", async () => {
  assert.equal((await verify(new Uint8Array(BODY), HEADERS, { jwks: JWKS, now: NOW })).number, 7);
  for (const body of [BODY.toString(), JSON.parse(BODY), undefined]) {
    await assert.rejects(verify(body, HEADERS, { jwks: JWKS, now: NOW }), /raw body as bytes/);
    await assert.rejects(verifyJwt(body, HEADERS, { jwks: JWKS, issuer: null, now: NOW }), /raw body as bytes/);
  }
});

test("this machine's clock is used where no time is given", async (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: (NOW + 300) * 1000 });
  assert.equal((await verify(BODY, HEADERS, { jwks: JWKS })).timestamp, NOW);
  context.mock.timers.setTime((NOW + 301) * 1000);
  await assert.rejects(verify(BODY, HEADERS, { jwks: JWKS }), refused(Reason.TOO_OLD));
});

test("a secret may be given by itself, and one that isn't there is a mistake", async () => {
  const told = cases.find(({ name }) => name === "v1, by the receiver's secret");
  const [headers, [secret]] = [Object.fromEntries(told.headers), told.options.secret];
  assert.equal((await verify(BODY, headers, { secret, now: NOW })).kind, "statusUpdate");
  await assert.rejects(verify(BODY, headers, { secret: process.env.NOT_THERE, now: NOW }), TypeError);
  await assert.rejects(verify(BODY, headers), TypeError);
});

test("the issuer of a token must be given, or said to be any", async () => {
  const told = cases.find(({ name }) => name === "JWT: by the published keys");
  const headers = Object.fromEntries(told.headers);
  assert.equal((await verifyJwt(BODY, headers, { jwks: JWKS, issuer: null, now: NOW })).number, 7);
  await assert.rejects(verifyJwt(BODY, headers, { jwks: JWKS, now: NOW }), /needs the issuer/);
});

test("a notification can't be changed", async () => {
  const notification = await verify(BODY, HEADERS, { jwks: JWKS, now: NOW });
  assert.throws(() => {
    notification.id = "another";
  }, TypeError);
});

test("the address of keys is https, or this machine where it is allowed", () => {
  for (const url of ["http://agent.example/jwks.json", "file:///jwks.json", "https://me:secret@agent.example/", "jwks.json"]) {
    assert.throws(() => new Jwks(url, { allowLoopback: true }), TypeError, url);
  }
  for (const url of ["http://127.0.0.1:80/jwks.json", "http://localhost/", "http://[::1]:8000/"]) {
    assert.throws(() => new Jwks(url), /https/, url);
    assert.ok(new Jwks(url, { allowLoopback: true }));
  }
  for (const url of ["http://127.0.0.1.evil.example/", "http://localhost.evil.example/"]) {
    assert.throws(() => new Jwks(url, { allowLoopback: true }), /https/, url);
  }
});

test("many who wait for keys load them once, and a load that throws at once can be tried again", async () => {
  let [loads, time] = [0, 0];
  const answers = [() => { throw new Error("at once"); }, async () => JSON.stringify(JWKS)];
  const jwks = new Jwks("https://agent.example/", { fetch: () => answers[loads++](), clock: () => time });
  const options = { jwks, now: NOW };
  const cause = { name: "VerificationError", reason: "keys_unavailable", cause: new Error("at once") };
  await assert.rejects(verify(BODY, HEADERS, options), cause);
  time = 5;
  const all = await Promise.all(Array.from({ length: 10 }, () => verify(BODY, HEADERS, options)));
  assert.equal(all.length, 10);
  assert.equal(loads, 2);
});

test("many who look for a new key load once", async () => {
  let [loads, time] = [0, 0];
  const answers = [sets.rotated, sets.rotating];
  const fetch = async () => JSON.stringify(answers[loads++]);
  const jwks = new Jwks("https://agent.example/", { fetch, clock: () => time });
  await jwks.current();
  time = 60;
  await Promise.all(Array.from({ length: 10 }, () => verify(BODY, HEADERS, { jwks, now: NOW })));
  assert.equal(loads, 2);
});

async function serving(answer, use) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await use(`http://127.0.0.1:${server.address().port}/jwks.json`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("keys come over HTTP", async () => {
  const answer = (request, response) => {
    assert.equal(request.headers.accept, "application/jwk-set+json, application/json");
    response.end(JSON.stringify(JWKS));
  };
  await serving(answer, async (url) => {
    const jwks = new Jwks(url, { allowLoopback: true });
    assert.equal((await verify(BODY, HEADERS, { jwks, now: NOW })).number, 7);
  });
});

const ODD = {
  "a redirect": ({ url }, response) =>
    response.writeHead(url === "/elsewhere" ? 200 : 302, { location: "/elsewhere" }).end(JSON.stringify(JWKS)),
  "an error": (_, response) => response.writeHead(500).end(JSON.stringify(JWKS)),
  "half a document": (_, response) => response.end(JSON.stringify(JWKS).slice(0, 100)),
  "nothing": (_, response) => response.destroy(),
  "a document without end": (request, response) => {
    const more = () => response.destroyed || response.write(" ".repeat(65_536), more);
    response.on("error", () => {});
    more();
  },
};

for (const [name, answer] of Object.entries(ODD)) {
  test(`the address of keys answers with ${name}`, async () => {
    await serving(answer, async (url) => {
      const jwks = new Jwks(url, { allowLoopback: true });
      await assert.rejects(verify(BODY, HEADERS, { jwks, now: NOW }), refused(Reason.KEYS_UNAVAILABLE));
    });
  });
}
