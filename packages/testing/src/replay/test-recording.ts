/** Records an operator on an embedded cluster, for tests of what is played. */
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Client, CustomResourceDefinition } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import type { Operator } from "lotse";
import { type RecorderOptions, recordTape } from "lotse/tape";
import { onTestFinished } from "vitest";

/** What was recorded, and what the cluster says was written. */
export interface Recorded {
  readonly file: string;
  /** The operator's writes, as the server saw them. */
  readonly writes: number;
}

/** Runs `scenario` beside the operator; the tape is in a file that goes with the test. */
export async function record(
  operator: Operator,
  scenario: (client: Client, calm: () => Promise<void>) => Promise<void>,
  options: Partial<RecorderOptions> = {},
): Promise<Recorded> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-tape-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "tape.jsonl");
  await using cluster = await Cluster.start({ tls: false });
  await using admin = await cluster.connect();
  for (const { resource } of operator.resources) {
    const { crd } = resource as { crd?: () => CustomResourceDefinition["body"] };
    if (crd) await (await admin.create(new CustomResourceDefinition(crd()))).wait("condition=Established");
  }
  await using connection = await cluster.connect({ userAgent: "recorded" });
  const stop = new AbortController();
  const tape = await recordTape({
    operator: operator.name,
    client: connection,
    write: (lines) => appendFileSync(file, lines),
    start: { crds: "wait" },
    signal: stop.signal,
    ...options,
  });
  const running = operator.start({
    client: tape.client,
    clock: tape.clock,
    random: tape.random,
    signal: tape.signal,
    crds: "wait",
    log: () => {},
  });
  await running.ready;
  const calm = async () => {
    for (let quiet = 0, before = -1; quiet < 5; ) {
      await cluster.settle();
      await running.idle();
      await delay(10);
      const { length } = cluster.requests.entries;
      quiet = length === before ? quiet + 1 : 0;
      before = length;
    }
  };
  await scenario(admin, calm);
  await calm();
  stop.abort();
  await running.stopped;
  await tape.close();
  const { length } = cluster.requests.filter(
    ({ verb, userAgent }) => userAgent === "recorded" && ["create", "update", "patch", "delete"].includes(verb),
  );
  return { file, writes: length };
}
