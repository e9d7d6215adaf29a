/**
 * One replica of an operator, in a process of its own: its handlers tell the witness before they do anything, take a moment,
 * and leave their mark by the turn's own write and by a write of their client. Its log goes to standard output.
 */
import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { Client, ConfigMap } from "@lotse/client";
import { type Duration, type LogRecord, leader, Operator, shards } from "lotse";
import { type Begun, LISTENS, OPERATOR, Order, type ReplicaSettings } from "./order.ts";

const settings = process.env as unknown as ReplicaSettings;
const by = settings.REPLICA_IDENTITY;
const [duration, renew, retry] = settings.REPLICA_LEASE.split("/") as [Duration, Duration, Duration];

/** Long enough to be hit in the middle. */
const WORK_MS = 10;

/** What a replica says when it begins to work on other objects than before. */
const BEGINNINGS = ["the Lease is taken, this process leads", "this process works on its share of the objects"];

let reign = 0;

/** Told and heard: the witness answers when it has written it down. */
function tell(note: Begun): Promise<void> {
  return new Promise((resolve, reject) => {
    const sending = request(settings.REPLICA_WITNESS, { method: "POST" }, (response) => {
      response.resume().once("end", resolve);
    });
    sending.once("error", reject);
    sending.end(JSON.stringify(note));
  });
}

const operator = new Operator({ name: OPERATOR, concurrency: 20 });

operator.on(["create", "update"], Order, async function handle({ name, uid, spec, client, patch }) {
  const run = randomUUID();
  const { change } = spec;
  await tell({ run, by, reign, uid, change });
  await delay(WORK_MS);
  const data = { change: String(change), run, by };
  await client.apply(ConfigMap.gen({ name, data }), { force: true });
  patch.status.change = change;
  patch.status.run = run;
  patch.status.by = by;
});

function log(record: LogRecord): void {
  // Said in the moment in which it happens, before anything follows from it.
  if (BEGINNINGS.includes(record.message)) reign++;
  process.stdout.write(`${JSON.stringify(record)}\n`);
}

const client = await Client.connect({ namespace: settings.REPLICA_NAMESPACE });
const running = operator.start({
  client,
  namespaces: [settings.REPLICA_NAMESPACE],
  coordination: (settings.REPLICA_COORDINATION === "shards" ? shards : leader)({
    identity: by,
    duration,
    renew,
    retry,
  }),
  log,
});
process.once("SIGTERM", () => void running.stop());
process.stdout.write(`${LISTENS}\n`);
await running.stopped;
await client.close();
