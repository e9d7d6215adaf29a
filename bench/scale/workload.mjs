// One start of one contestant among objects that are all settled, a number of changes, and its memory at the end.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Contestant, commandOf } from "../engine/contestant.mjs";
import { Watcher } from "../engine/watcher.mjs";
import { canary, nameOf } from "./objects.mjs";

const collector = fileURLToPath(new URL("./collector.mjs", import.meta.url));
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Who is measured: the floor keeps what it sees, as every operator has to. */
export const contestants = { floor: { keep: true }, lotse: {} };

/**
 * @param {import("../engine/bed.mjs").Bed} bed
 * @param {import("./objects.mjs").Objects} objects
 * @param {{ name: string, namespace: string, count: number, changes: number, rate: number, connections: number }} options
 * @returns {Promise<Record<string, number>>} its figures
 */
export async function runOnce(bed, objects, options) {
  const { name, namespace, count, connections } = options;
  const limitMs = 120_000 + count * 10;
  const watcher = new Watcher(bed.api, objects.path);
  let contestant;
  try {
    await watcher.until(
      () => watcher.size === count + 1,
      "all objects seen",
      limitMs,
      () => {},
    );
    await objects.change(canary, 2);
    await watcher.quiet();
    bed.takeWrites();

    const [file, args] = commandOf(name, { namespace });
    contestant = new Contestant(name, {
      ...{ namespace, kubeconfig: bed.kubeconfigFile, child: false, ...contestants[name] },
      command: [file, ["--import", `file://${path.resolve(collector)}`, ...args]],
    });
    const known = await watcher.until(
      () => watcher.isSettled(canary, 2),
      "the first status",
      limitMs,
      contestant.alive,
    );
    await rest(watcher);
    const figures = {
      "start.ms": known - contestant.startedAt,
      "start.cpu": contestant.cpu(),
      "start.mb": contestant.memory().now,
      // All but the canary's.
      "start.writes": bed.takeWrites().done - 1,
    };

    const cpu = contestant.cpu();
    const names = await change(objects, options);
    await watcher.until(
      () => names.every((one) => watcher.isSettled(one, 2)),
      "all changes handled",
      limitMs,
      contestant.alive,
    );
    await rest(watcher);
    figures["change.cpu"] = (contestant.cpu() - cpu) / names.length;

    contestant.signal("SIGWINCH");
    await sleep(500 + count / 20); // a collection takes longer the more there is
    contestant.alive();
    figures["settled.mb"] = contestant.memory().now;
    await contestant.stop();
    await objects.settle([canary, ...names], connections);
    return figures;
  } catch (error) {
    const told = contestant?.output;
    error.message = `${name} with ${count} objects: ${error.message}${told ? `\n${told}` : ""}`;
    throw error;
  } finally {
    watcher.close();
    await contestant?.stop();
  }
}

/** So many changes a second, of objects from everywhere. Returns whose. */
async function change(objects, { count, changes, rate }) {
  const names = Array.from({ length: Math.min(changes, count) }, (_, index) =>
    nameOf(Math.floor((index * count) / Math.min(changes, count))),
  );
  const since = performance.now();
  const requests = [];
  for (const [index, name] of names.entries()) {
    const early = since + (index * 1000) / rate - performance.now();
    if (early > 0) await sleep(early);
    requests.push(objects.change(name, 2));
  }
  await Promise.all(requests);
  return names;
}

/** What is done for each object, though nobody can see it, is done by then. */
async function rest(watcher) {
  await watcher.quiet();
  await sleep(1500);
}
