// A webhook's receiver to copy: every profile at a path of its own, and everything dealt with once.
//
//     npm install express ./herald/clients/js
//     JWKS_URL=https://agent.example/.well-known/jwks.json node express_receiver.mjs

import express from "express";
import { Jwks, Reason, VerificationError, verify, verifyJwt } from "herald-webhooks";

// From the Agent Card, or from whoever runs the agent: never from a notification.
const { JWKS_URL, PORT = "8000", ALLOW_LOOPBACK } = process.env;
const issuer = JWKS_URL.replace(/\/\.well-known\/jwks\.json$/, ""); // of JWTs: the address the keys are published under
const secret = process.env.WEBHOOK_SECRET; // whsec_…, the token that the webhook was registered with

const jwks = new Jwks(JWKS_URL, { allowLoopback: ALLOW_LOOPBACK !== undefined });
const seen = new Set(); // in real life a table with a unique key, written in one transaction with what you do

function handle(notification) {
  console.log(notification.number, notification.kind, notification.taskId);
}

function receive(check, options) {
  return async (request, response) => {
    let notification;
    try {
      notification = await check(request.body ?? Buffer.alloc(0), request.headers, options);
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      const status = error.reason === Reason.KEYS_UNAVAILABLE ? 503 : 400;
      return response.status(status).type("text/plain").send(error.reason);
    }
    if (!seen.has(notification.id)) {
      handle(notification);
      seen.add(notification.id);
    }
    return response.status(204).end();
  };
}

const app = express();

// The very bytes that came: parsed and printed again, they wouldn't fit the signature. So this stands before any
// express.json(), and takes more than the usual 100 kB: the agent sends up to 1 MiB.
app.use("/hook", express.raw({ type: () => true, limit: "2mb" }));

app.post("/hook", receive(verify, { jwks })); // v1a: for every webhook
app.post("/hook/secret", receive(verify, { secret })); // v1: for one that was registered with a whsec_ token
app.post("/hook/jwt", receive(verifyJwt, { jwks, issuer })); // JWT: with the scheme Bearer and no credentials

const server = app.listen(Number(PORT), "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
