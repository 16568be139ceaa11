// SPDX-License-Identifier: Apache-2.0
// A host application's first hour with Kalends, in TypeScript for Node 18 or later, without a package.
//
//     KALENDS_KEY=$(kalends key create --name my-app) node first-hour.mts [CIRCLE]
//
// Before Node 22.18: tsc --target es2022 --module nodenext first-hour.mts, and node first-hour.mjs.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";

const server = process.env["KALENDS_URL"] ?? "http://localhost:8080";
const key = process.env["KALENDS_KEY"] ?? "";
const circleId = process.argv[2] ?? "first-hour";

// 1. Asking

interface Fault { pointer: string; code: string; message: string }
interface Problem { code: string; title: string; detail?: string; errors?: Fault[]; feedId?: string }

/** What the server refused. Branch on `code`, which never changes its meaning; the sentences are for people. */
class Refused extends Error {
  readonly code: string;
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail ?? problem.title);
    this.code = problem.code;
    this.problem = problem;
  }
}

interface Answer<T> { value: T; tag: string }

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** The document that the server answers, and its entity tag. */
async function call<T>(
  method: string, path: string, value?: unknown, more: Record<string, string> = {},
): Promise<Answer<T>> {
  const headers = { "Authorization": `Bearer ${key}`, "Content-Type": "application/json", ...more };
  const body = value === undefined || typeof value === "string" ? value : JSON.stringify(value);
  for (let attempt = 0; ; attempt += 1) {
    const answer = await fetch(server + path, { method, headers, body: body ?? null });
    const text = await answer.text();
    if (answer.ok) {
      return { value: (text ? JSON.parse(text) : null) as T, tag: answer.headers.get("ETag") ?? "" };
    }
    // Too much at once, or a database that is away for a moment: the same request is right a little later.
    if ((answer.status === 429 || answer.status === 503) && attempt < 4) {
      await pause(Number(answer.headers.get("Retry-After") ?? "1"));
    } else {
      throw new Refused(JSON.parse(text) as Problem);
    }
  }
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
const { value: webhook } = await call<{ id: string; secret: string }>("POST", "/v1/webhooks", {
  url: process.env["WEBHOOK_URL"] ?? `http://127.0.0.1:${port}/kalends`, circles: [circleId],
});
secret = webhook.secret; // shown this once: keep it as you keep a password

// 3. A circle, its people, and something of each kind

interface Item { id: string; sequence: number; notes: string | null; durationMinutes: number }

const circle = `/v1/circles/${circleId}`;
const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
await call("PUT", circle, { name: "Rossi family", timeZone: "Europe/Rome" });
await call("PUT", `${circle}/members/ada`, { displayName: "Ada", role: "owner" });
await call("PUT", `${circle}/members/ben`, { displayName: "Ben", role: "member" });
await call("PUT", `${circle}/patients/ma`, { displayName: "Mamma" });
const pills = { title: "Refill pills", dueAt: `${tomorrow}T09:00:00+01:00`, reminders: [15] };
const first = await call<Item>("PUT", `${circle}/tasks/pills`, pills);
await call("PUT", `${circle}/shifts/night`, {
  patientId: "ma", ownerId: "ben", startAt: `${tomorrow}T20:00:00+01:00`, endAt: `${tomorrow}T23:00:00+01:00`,
});
await call("PUT", `${circle}/appointments/cardio`, {
  patientId: "ma", provider: "Dr. Wu", startAt: `${tomorrow}T14:30:00+01:00`,
  recurrence: { rrule: "FREQ=WEEKLY;COUNT=4" },
});
await call("PUT", `${circle}/follow-ups/results`, {
  description: "Ask for the results", dueAt: `${tomorrow}T16:00:00+01:00`,
});
const again = await call<Item>("PUT", `${circle}/tasks/pills`, pills);
console.log(
  `1 item of each of 4 kinds; the same PUT again changed ${again.value.sequence - first.value.sequence} things`);

// 4. Many at once: one line of JSON each. Good lines are applied, and the others are named.

interface Rejected { line: number; id: string | null; errors: Fault[] }
interface BatchReport { applied: number; unchanged: number; rejected: Rejected[] }

const lines: object[] = Array.from({ length: 24 }, (_, number) => ({
  op: "put", collection: "tasks", id: `walk-${number}`,
  value: {
    title: `Walk ${number}`, dueAt: `${tomorrow}T${String(8 + Math.floor(number / 2)).padStart(2, "0")}:30:00+01:00`,
  },
}));
lines.push({ op: "put", collection: "tasks", id: "walk-24", value: { dueAt: `${tomorrow}T21:00:00+01:00` } });
const { value: report } = await call<BatchReport>(
  "POST", `${circle}/batch`, lines.map((line) => JSON.stringify(line) + "\n").join(""),
  { "Content-Type": "application/x-ndjson" });
console.log(`batch: ${report.applied + report.unchanged} of ${lines.length} lines are in the circle`);
for (const line of report.rejected) {
  for (const fault of line.errors) {
    console.log(`batch: line ${line.line} (${line.id}): ${fault.code} at ${fault.pointer}`);
  }
}

// 5. Lists come in pages

interface Page<T> { items: T[]; nextCursor: string | null }

const tasks: Item[] = [];
let pages = 0;
let cursor: string | null = null;
do {
  const more: string = cursor === null ? "" : `&cursor=${cursor}`;
  const { value: page }: Answer<Page<Item>> = await call<Page<Item>>("GET", `${circle}/tasks?limit=10${more}`);
  tasks.push(...page.items);
  pages += 1;
  cursor = page.nextCursor;
} while (cursor !== null);
console.log(`list: ${tasks.length} tasks in ${pages} pages`);

// 6. Refusals, by their code

/** The refusal, if it is the one that is expected; anything else is thrown on. */
function refusal(error: unknown, code: string): Refused {
  if (error instanceof Refused && error.code === code) {
    return error;
  }
  throw error;
}

interface FeedAddress { id: string; url: string }

let feed: FeedAddress;
try {
  feed = (await call<FeedAddress>("POST", `${circle}/feeds`, { userId: "ada", label: "Phone" })).value;
} catch (error) {
  const id = refusal(error, "label-taken").problem.feedId ?? ""; // from an earlier run
  feed = { id, url: (await call<{ url: string }>("POST", `/v1/feeds/${id}/reveal`)).value.url };
}

try {
  await call("PUT", `${circle}/tasks/wrong`, { titel: "Refill", dueAt: "tomorrow" });
} catch (error) {
  const faults = refusal(error, "invalid-fields").problem.errors ?? [];
  console.log("refused:", faults.map((fault) => `${fault.code} at ${fault.pointer}`).sort().join(", "));
}

// Somebody else was faster: with If-Match nothing is overwritten unseen.
await call("PUT", `${circle}/tasks/pills`, { ...pills, notes: "Ben was here." }, { "If-Match": first.tag });
try {
  await call("PUT", `${circle}/tasks/pills`, { ...pills, durationMinutes: 45 }, { "If-Match": first.tag });
} catch (error) {
  const { code } = refusal(error, "precondition-failed");
  const latest = await call<Item>("GET", `${circle}/tasks/pills`);
  const merged = await call<Item>(
    "PUT", `${circle}/tasks/pills`, { ...pills, notes: latest.value.notes, durationMinutes: 45 },
    { "If-Match": latest.tag });
  const { durationMinutes, notes } = merged.value;
  console.log(`refused: ${code}; read again, and both changes are in: ${durationMinutes}, ${notes}`);
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
await call("PUT", `${circle}/tasks/pills`, { ...pills, title: "Refill pills and vitamins" });
const changed = await read(feed.url, whole.tag);
const isNew = changed.text.includes("Refill pills and vitamins");
console.log(`feed: after a change ${changed.status}, with the new title: ${isNew}`);
const { value: renewed } = await call<FeedAddress>("POST", `/v1/feeds/${feed.id}/regenerate`, { graceSeconds: 0 });
const [before, after] = [await read(feed.url), await read(renewed.url)];
console.log(`feed: the old address ${before.status}, the new one ${after.status}`);

// 8. What the webhook said, and what it may have missed

const changes: Change[] = [];
let latest = 0;
let since: number | null = 0;
while (since !== null) {
  const { value: page }: Answer<{ items: Change[]; latest: number; nextCursor: number | null }> =
    await call("GET", `${circle}/changes?since=${since}&limit=1000`);
  changes.push(...page.items);
  [latest, since] = [page.latest, page.nextCursor];
}
for (const deadline = Date.now() + 30_000; heardUntil < latest && Date.now() < deadline;) {
  await pause(0.05);
}
const heard = new Set([...seen.values()].flat().map((change) => change.number));
const firstHeard = Math.min(...heard);
const missed = changes.filter(({ number }) => number > firstHeard && !heard.has(number));
console.log(`webhook: ${seen.size} messages verified, ${refused} refused, ${missed.length} changes missed`);
await call("DELETE", `/v1/webhooks/${webhook.id}`);
listener.close();
listener.closeAllConnections();
