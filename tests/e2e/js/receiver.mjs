// A webhook's receiver on loopback: it takes a notification only when both of its signatures hold.

import { createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

const TOLERANCE = 300; // seconds

/** Throws unless v1 (HMAC with the whsec_ secret) and v1a (ed25519 with one of the keys) are genuine. */
export function check(headers, body, secret, jwks) {
  const age = Date.now() / 1000 - Number(headers["webhook-timestamp"]);
  if (!(Math.abs(age) <= TOLERANCE)) throw new Error(`sent ${age} s ago`);
  const signed = Buffer.concat([Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`), body]);
  const hmac = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64")).update(signed).digest();
  const keys = jwks.keys
    .filter(({ kty, crv }) => kty === "OKP" && crv === "Ed25519")
    .map((key) => createPublicKey({ key, format: "jwk" }));
  const genuine = {
    v1: (signature) => signature.length === hmac.length && timingSafeEqual(signature, hmac),
    v1a: (signature) => keys.some((key) => verify(null, signed, key, signature)),
  };
  const held = new Set();
  for (const entry of headers["webhook-signature"].split(" ")) {
    const [version, text] = entry.split(",");
    if (genuine[version]?.(Buffer.from(text, "base64"))) held.add(version);
  }
  if (held.size !== 2) throw new Error(`of the signatures only these hold: ${[...held].join() || "none"}`);
}

/** Listens until `close()`. `arrived` holds each notification as {id, event}; `faults` what was wrong with others. */
export async function listen(secret, jwks) {
  const arrived = [];
  const faults = [];
  const waiting = new Set();
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    try {
      check(request.headers, body, secret, jwks);
      arrived.push({ id: request.headers["webhook-id"], event: JSON.parse(body) });
    } catch (error) {
      faults.push(String(error));
    }
    response.writeHead(204, { connection: "close" }).end();
    for (const look of waiting) look();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  /** What `find` gives of the arrivals, as soon as it gives something. */
  function wait(what, find, seconds = 60) {
    return new Promise((resolve, reject) => {
      const bound = setTimeout(() => settle(reject, new Error(`waited ${seconds} s for ${what}`)), seconds * 1000);
      const settle = (how, value) => {
        clearTimeout(bound);
        waiting.delete(look);
        how(value);
      };
      const look = () => {
        if (faults.length) return settle(reject, new Error(faults[0]));
        const found = find(arrived);
        if (found) settle(resolve, found);
      };
      waiting.add(look);
      look();
    });
  }

  const url = `http://127.0.0.1:${server.address().port}/hook`;
  return { url, arrived, faults, wait, close: () => server.close() };
}
