// The demo's road by a2a-js's client, over one binding: card, SendMessage with a webhook, signed notifications, GetTask,
// ListTasks, the webhook's own operations, CancelTask, and errors. Ends with 0 when all of it went as it should.
//
// Environment: CARD_URL, JWKS_URL, BINDING (JSONRPC or HTTP+JSON), STATEMENT (the example's CSV), TOKEN (a bearer token,
// or nothing where nobody is asked who they are).

import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";

import {
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  SendMessageRequest,
  Task,
  TaskPushNotificationConfig,
  TaskState,
  verifyAgentCardSignature,
} from "@a2a-js/sdk";
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { ContentTypeNotSupportedError, TaskNotCancelableError, TaskNotFoundError } from "@a2a-js/sdk/errors";

import { listen } from "./receiver.mjs";

const { CARD_URL, JWKS_URL, BINDING, STATEMENT, TOKEN } = process.env;

const ENDED = ["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED"];

const fetchImpl = TOKEN
  ? (url, init = {}) => fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${TOKEN}` } })
  : fetch;

function step(name) {
  console.log(`${BINDING}: ${name}`);
}

function message(...parts) {
  return { messageId: randomUUID(), role: "ROLE_USER", parts };
}

function script(...steps) {
  return { data: { script: steps } };
}

/** What was thrown, as an error of this kind. */
async function refused(call, kind) {
  await assert.rejects(call, (error) => error instanceof kind || assert.fail(`not a ${kind.name}: ${error.stack}`));
}

const jwks = await (await fetch(JWKS_URL)).json();
const secret = `whsec_${randomBytes(32).toString("base64")}`;
const receiver = await listen(secret, jwks);

try {
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [BINDING],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  const client = await factory.createFromUrl(CARD_URL, "");
  assert.equal(client.transport.protocolName, BINDING);
  assert.equal(client.protocolVersion, "1.0");
  // The card as it came: a2a-js reads the one that its client holds a second time and loses the security schemes by it.
  const verifyCard = verifyAgentCardSignature(async (kid) => jwks.keys.find((key) => key.kid === kid));
  await verifyCard(await (await fetch(CARD_URL)).json());
  step("read the card, and verified its signature");

  const statement = { filename: basename(STATEMENT), mediaType: "text/csv" };
  statement.raw = (await readFile(STATEMENT)).toString("base64");
  const submitted = await client.sendMessage(
    SendMessageRequest.fromJSON({
      message: message({ text: "How did gross margin and cash flow develop?" }, statement),
      configuration: {
        returnImmediately: true,
        taskPushNotificationConfig: { url: receiver.url, token: secret },
      },
    }),
  );
  assert.equal(submitted.status.state, TaskState.TASK_STATE_SUBMITTED);
  step("sent the example, with a webhook");

  const about = ({ event }) => event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId;
  const state = ({ event }) => (event.task ?? event.statusUpdate)?.status.state;
  const own = await receiver.wait("the end of the task", (arrived) => {
    const found = arrived.filter((one) => about(one) === submitted.id);
    return found.some((one) => ENDED.includes(state(one))) && found;
  });
  const numbers = own.map(({ id }) => Number(id.split("_").at(-1)));
  assert.deepEqual(numbers, numbers.toSorted((a, b) => a - b));
  assert.deepEqual(Object.keys(own[0].event), ["task"]);
  assert.equal(state(own.at(-1)), "TASK_STATE_COMPLETED");
  assert.equal(own.filter(({ event }) => event.artifactUpdate).length, 3);
  step(`took ${own.length} notifications, in order, each with both signatures`);

  const task = await client.getTask(GetTaskRequest.fromJSON({ id: submitted.id }));
  assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
  const [artifact] = Task.toJSON(task).artifacts;
  assert.equal(artifact.parts[0].data.entity, "Fjordlight Instruments AS");
  assert.equal(artifact.parts[0].data.periods[0].grossProfit, 8141600); // 18,420,000 - 10,278,400 in the file
  const bare = await client.getTask(GetTaskRequest.fromJSON({ id: submitted.id, historyLength: 0 }));
  assert.deepEqual([task.history.length > 0, bare.history.length], [true, 0]);
  step("got the task");

  const waiting = await client.sendMessage(
    SendMessageRequest.fromJSON({
      message: { ...message(script({ require_input: "Go on?" })), contextId: submitted.contextId },
    }),
  );
  assert.equal(waiting.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  step("waited for a task that asks for input");

  const ask = { contextId: submitted.contextId, pageSize: 1 };
  const first = await client.listTasks(ListTasksRequest.fromJSON(ask));
  const second = await client.listTasks(ListTasksRequest.fromJSON({ ...ask, pageToken: first.nextPageToken }));
  assert.deepEqual(
    [...first.tasks, ...second.tasks].map(({ id }) => id),
    [waiting.id, submitted.id],
  );
  assert.deepEqual([first.totalSize, second.totalSize, second.nextPageToken], [2, 2, ""]);
  step("listed the conversation's tasks, newest first, page by page");

  const hook = { taskId: waiting.id, id: "mine", url: receiver.url, token: secret };
  const created = await client.createTaskPushNotificationConfig(TaskPushNotificationConfig.fromJSON(hook));
  assert.deepEqual([created.id, created.taskId, created.url], ["mine", waiting.id, receiver.url]);
  const which = { taskId: waiting.id, id: "mine" };
  const got = await client.getTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest.fromJSON(which));
  assert.deepEqual([got.url, got.token], [receiver.url, ""]); // a token is never given back
  const all = ListTaskPushNotificationConfigsRequest.fromJSON({ taskId: waiting.id });
  const { configs } = await client.listTaskPushNotificationConfig(all);
  assert.deepEqual(
    configs.map(({ id }) => id),
    ["mine"],
  );
  step("registered a webhook, got it and listed it");

  const canceled = await client.cancelTask(CancelTaskRequest.fromJSON({ id: waiting.id }));
  assert.equal(canceled.status.state, TaskState.TASK_STATE_CANCELED);
  await receiver.wait("the cancellation", (arrived) =>
    arrived.some((one) => about(one) === waiting.id && state(one) === "TASK_STATE_CANCELED"),
  );
  step("canceled the task, and was notified of it");

  const gone = DeleteTaskPushNotificationConfigRequest.fromJSON(which);
  await client.deleteTaskPushNotificationConfig(gone);
  await client.deleteTaskPushNotificationConfig(gone);
  assert.deepEqual((await client.listTaskPushNotificationConfig(all)).configs, []);
  step("deleted the webhook, twice");

  await refused(() => client.cancelTask(CancelTaskRequest.fromJSON({ id: waiting.id })), TaskNotCancelableError);
  await refused(() => client.getTask(GetTaskRequest.fromJSON({ id: "no-such-task" })), TaskNotFoundError);
  const film = SendMessageRequest.fromJSON({ message: message({ raw: "AAAA", mediaType: "video/mp4" }) });
  await refused(() => client.sendMessage(film), ContentTypeNotSupportedError);
  step("met the errors that it should");

  assert.deepEqual(receiver.faults, []);
} finally {
  receiver.close();
}
