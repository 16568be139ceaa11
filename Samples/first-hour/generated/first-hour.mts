// SPDX-License-Identifier: Apache-2.0
// A host application's first hour with Kalends, through the client that OpenAPI Generator makes from /openapi.json.
//
//     KALENDS_KEY=$(kalends key create --name my-app) node first-hour.mjs [CIRCLE]
//
// docs/host-application.md says how the client is made, and how this file is compiled with it.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import {
  ChangesApi, CirclesApi, Configuration, FeedsApi, ResponseError, ScheduleApi, WebhooksApi,
  type Changes, type Middleware, type Problem, type Task, type TaskInput,
} from "./kalends-client/index.js";

const key = process.env["KALENDS_KEY"] ?? "";
const circle = process.argv[2] ?? "first-hour";

// 1. Asking

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** Too much at once, or a database that is away for a moment: the same request is right a little later. */
const patience: Middleware = {
  async post({ fetch, url, init, response }) {
    for (let attempt = 1; attempt < 5 && [429, 503].includes(response.status); attempt += 1) {
      await pause(Number(response.headers.get("Retry-After") ?? "1"));
      response = await fetch(url, init);
    }
    return response;
  },
};

const configuration = new Configuration({
  basePath: process.env["KALENDS_URL"] ?? "http://localhost:8080", accessToken: key, middleware: [patience],
});
const circles = new CirclesApi(configuration);
const schedule = new ScheduleApi(configuration);
const feeds = new FeedsApi(configuration);
const webhooks = new WebhooksApi(configuration);

/** The refusal, if it is the one that is expected; anything else is thrown on. */
async function refusal(error: unknown, code: string): Promise<Problem> {
  if (error instanceof ResponseError) {
    const problem = await error.response.json() as Problem;
    if (problem.code === code) {
      return problem;
    }
  }
  throw error;
}

// 2. Hearing of changes

interface Change { number: number; type: string; change: string; id?: string }

/** Whether Kalends signed these bytes, within the last five minutes (docs/host-application.md). */
function isGenuine(secret: string, headers: IncomingHttpHeaders, body: Buffer): boolean {
  const id = String(headers["webhook-id"]);
  const stamp = String(headers["webhook-timestamp"]);
  if (!(Math.abs(Date.now() / 1000 - Number(stamp)) <= 300)) {
    return false;
  }
  const signingKey = Buffer.from(secret.replace("kal_wh_", ""), "base64url");
  const expected = createHmac("sha256", signingKey).update(`${id}.${stamp}.`).update(body).digest();
  return String(headers["webhook-signature"]).split(" ").some((one) => {
    const given = Buffer.from(one.replace(/^v1,/, ""), "base64");
    return one.startsWith("v1,") && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

// A message may come twice, with the same id: it is worked on once.
const seen = new Map<string, Change[]>();
let secret = "";
let heardUntil = 0;
let refused = 0;

const listener = createServer((request, response) => {
  const pieces: Buffer[] = [];
  let length = 0;
  request.on("data", (piece: Buffer) => {
    length += piece.length;
    if (length > 1 << 20) {
      request.destroy();
    }
    pieces.push(piece);
  });
  request.on("end", () => {
    const body = Buffer.concat(pieces);
    const genuine = isGenuine(secret, request.headers, body);
    const id = String(request.headers["webhook-id"]);
    if (!genuine) {
      refused += 1;
    } else if (!seen.has(id)) {
      const { data } = JSON.parse(body.toString()) as { data: { to: number; items: Change[] } };
      seen.set(id, data.items);
      heardUntil = Math.max(heardUntil, data.to);
    }
    response.writeHead(genuine ? 204 : 401).end();
  });
});
const port = await new Promise<number>((resolve) => {
  listener.listen(Number(process.env["WEBHOOK_PORT"] ?? "0"), "127.0.0.1", () => {
    const address = listener.address();
    resolve(address !== null && typeof address === "object" ? address.port : 0);
  });
});
const webhook = await webhooks.createWebhook({
  webhookInput: { url: process.env["WEBHOOK_URL"] ?? `http://127.0.0.1:${port}/kalends`, circles: [circle] },
});
secret = webhook.secret; // shown this once: keep it as you keep a password

// 3. A circle, its people, and something of each kind

const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
/** A time of tomorrow, in Rome's winter. */
const at = (hour: number, minute = 0) =>
  `${tomorrow}T${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}:00+01:00`;
const pills: TaskInput = { title: "Refill pills", dueAt: at(9), reminders: [15] };

/** Puts the task; its entity tag is in the header. */
async function putPills(task: TaskInput, ifMatch?: string): Promise<{ task: Task; tag: string }> {
  const answer = await schedule.putTaskRaw({ circle, id: "pills", taskInput: task, ...(ifMatch && { ifMatch }) });
  return { task: await answer.value(), tag: answer.raw.headers.get("ETag") ?? "" };
}

await circles.putCircle({ circle, circleInput: { name: "Rossi family", timeZone: "Europe/Rome" } });
await circles.putMember({ circle, user: "ada", memberInput: { displayName: "Ada", role: "owner" } });
await circles.putMember({ circle, user: "ben", memberInput: { displayName: "Ben", role: "member" } });
await circles.putPatient({ circle, patient: "ma", patientInput: { displayName: "Mamma" } });
const first = await putPills(pills);
await schedule.putShift({
  circle, id: "night", shiftInput: { patientId: "ma", ownerId: "ben", startAt: at(20), endAt: at(23) },
});
await schedule.putAppointment({
  circle, id: "cardio", appointmentInput: {
    patientId: "ma", provider: "Dr. Wu", startAt: at(14, 30), recurrence: { rrule: "FREQ=WEEKLY;COUNT=4" },
  },
});
await schedule.putFollowUp({
  circle, id: "results", followUpInput: { description: "Ask for the results", dueAt: at(16) },
});
const again = await putPills(pills);
console.log(`1 item of each of 4 kinds; the same PUT again changed ${again.task.sequence - first.task.sequence} things`);

// 4. Many at once: one line of JSON each. Good lines are applied, and the others are named.

const lines: object[] = Array.from({ length: 24 }, (_, number) => ({
  op: "put", collection: "tasks", id: `walk-${number}`,
  value: { title: `Walk ${number}`, dueAt: at(8 + Math.floor(number / 2), 30) },
}));
lines.push({ op: "put", collection: "tasks", id: "walk-24", value: { dueAt: at(21) } });
const body = new Blob(lines.map((line) => JSON.stringify(line) + "\n"));
const report = await schedule.postBatch({ circle, body });
console.log(`batch: ${report.applied + report.unchanged} of ${lines.length} lines are in the circle`);
for (const line of report.rejected) {
  for (const fault of line.errors) {
    console.log(`batch: line ${line.line} (${line.id}): ${fault.code} at ${fault.pointer}`);
  }
}

// 5. Lists come in pages

let tasks = 0;
let pages = 0;
let cursor: string | null | undefined;
do {
  const page = await schedule.listTasks({ circle, limit: 10, ...(cursor && { cursor }) });
  tasks += page.items.length;
  pages += 1;
  cursor = page.nextCursor;
} while (cursor !== null);
console.log(`list: ${tasks} tasks in ${pages} pages`);

// 6. Refusals, by their code

let feed: { id: string; url: string };
try {
  feed = await feeds.createFeed({ circle, feedInput: { userId: "ada", label: "Phone" } });
} catch (error) {
  const id = (await refusal(error, "label-taken")).feedId ?? ""; // from an earlier run
  feed = { id, url: (await feeds.revealFeed({ id })).url };
}

try {
  // The compiler refuses this task; what comes from a form, only the server checks.
  const wrong = new Blob([JSON.stringify({ titel: "Refill", dueAt: "tomorrow" })]);
  await schedule.putTask({ circle, id: "wrong", taskInput: pills }, async ({ init }) => ({ ...init, body: wrong }));
} catch (error) {
  const faults = (await refusal(error, "invalid-fields")).errors ?? [];
  console.log("refused:", faults.map((fault) => `${fault.code} at ${fault.pointer}`).sort().join(", "));
}

// Somebody else was faster: with If-Match nothing is overwritten unseen.
await putPills({ ...pills, notes: "Ben was here." }, first.tag);
try {
  await putPills({ ...pills, durationMinutes: 45 }, first.tag);
} catch (error) {
  const { code } = await refusal(error, "precondition-failed");
  const latest = await schedule.getTaskRaw({ circle, id: "pills" });
  const { notes } = await latest.value();
  const merged = await putPills({ ...pills, notes, durationMinutes: 45 }, latest.raw.headers.get("ETag") ?? "");
  console.log(`refused: ${code}; read again, and both changes are in: ${merged.task.durationMinutes}, ${merged.task.notes}`);
}

// 7. A feed, as a calendar app reads it

/** The status, the entity tag and the text of a calendar. */
async function read(url: string, tag?: string): Promise<{ status: number; tag: string; text: string }> {
  const answer = await fetch(url, { headers: tag === undefined ? {} : { "If-None-Match": tag } });
  return { status: answer.status, tag: answer.headers.get("ETag") ?? "", text: await answer.text() };
}

const whole = await read(feed.url);
const events = whole.text.split("BEGIN:VEVENT").length - 1;
console.log(`feed: ${whole.status} with ${events} events, then ${(await read(feed.url, whole.tag)).status}`);
await putPills({ ...pills, title: "Refill pills and vitamins" });
const changed = await read(feed.url, whole.tag);
const isNew = changed.text.includes("Refill pills and vitamins");
console.log(`feed: after a change ${changed.status}, with the new title: ${isNew}`);
const renewed = await feeds.regenerateFeed({ id: feed.id, regeneration: { graceSeconds: 0 } });
const [before, after] = [await read(feed.url), await read(renewed.url)];
console.log(`feed: the old address ${before.status}, the new one ${after.status}`);

// 8. What the webhook said, and what it may have missed

const changes = new ChangesApi(configuration);
const numbers: number[] = [];
let latest = 0;
let since: number | null = 0;
while (since !== null) {
  const page: Changes = await changes.listChanges({ circle, since, limit: 1000 });
  numbers.push(...page.items.map((change) => change.number));
  latest = page.latest;
  since = page.nextCursor === null ? null : Number(page.nextCursor);
}
for (const deadline = Date.now() + 30_000; heardUntil < latest && Date.now() < deadline;) {
  await pause(0.05);
}
const heard = new Set([...seen.values()].flat().map((change) => change.number));
const firstHeard = Math.min(...heard);
const missed = numbers.filter((number) => number > firstHeard && !heard.has(number));
console.log(`webhook: ${seen.size} messages verified, ${refused} refused, ${missed.length} changes missed`);
await webhooks.deleteWebhook({ id: webhook.id });
listener.close();
listener.closeAllConnections();
