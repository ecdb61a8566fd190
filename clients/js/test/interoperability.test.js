// The packages standardwebhooks and svix take what ours takes, and the other way round. SENT names a file with
// notifications of a real delivery, signed just now: {secret, jwks, issuer, messages: [{headers, body}]}.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { verify, verifyJwt } from "herald-webhooks";
import * as standardwebhooks from "standardwebhooks";
import * as svix from "svix";

const SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";
const { SENT } = process.env;
const skip = SENT === undefined && "no notifications were given";

for (const [name, { Webhook, WebhookVerificationError }] of Object.entries({ standardwebhooks, svix })) {
  test(`what ${name} signs is taken`, async () => {
    const body = '{"task":{"id":"t-1","é":"✓"}}';
    const now = new Date();
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
      "webhook-signature": new Webhook(SECRET).sign("msg_1", now, body),
    };
    assert.equal((await verify(Buffer.from(body), headers, { secret: SECRET })).taskId, "t-1");
    await assert.rejects(verify(Buffer.from(`${body} `), headers, { secret: SECRET }), { reason: "wrong_signature" });
  });

  test(`${name} takes what was sent, and so does ours in every profile`, { skip }, async () => {
    const { secret, jwks, issuer, messages } = JSON.parse(readFileSync(SENT, "utf8"));
    for (const { headers, body } of messages) {
      const raw = Buffer.from(body);
      assert.doesNotThrow(() => new Webhook(secret).verify(body, headers));
      assert.throws(() => new Webhook(secret).verify(`${body} `, headers), WebhookVerificationError);
      const id = headers["webhook-id"];
      assert.equal((await verify(raw, headers, { secret })).id, id);
      assert.equal((await verify(raw, headers, { jwks })).id, id);
      assert.equal((await verifyJwt(raw, headers, { jwks, issuer })).id, id);
    }
    assert.equal(messages.length, 4);
  });
}
