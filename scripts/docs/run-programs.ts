/**
 * Runs the programs of a page as their reader would run them: $KUBECONFIG leads to a cluster, here an embedded one of its
 * own for each, and the files of the page are beside them. Writes a line of JSON for each: what it printed, and why it
 * failed. One process for all, because loading the sources takes longer than most programs.
 */
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Cluster } from "@lotse/cluster";
import { playImages } from "./images.ts";

/** A program of a page shows one thing; what takes longer hangs. */
const LIMIT_MS = 60_000;

const write = process.stdout.write.bind(process.stdout);

async function perform(file: string): Promise<{ printed: string; problem?: string }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "lotse-docs-"));
  const cluster = await Cluster.start({ kubelet: { mode: "simulate", startDelay: 0 } });
  await using _ = await playImages(cluster);
  let printed = "";
  process.stdout.write = (chunk: string | Uint8Array) => {
    printed += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    return true;
  };
  try {
    process.env.KUBECONFIG = path.join(folder, "kubeconfig");
    await cluster.writeKubeconfig(process.env.KUBECONFIG);
    process.chdir(path.dirname(file));
    const slow = pause(LIMIT_MS, undefined, { ref: false }).then(() => {
      throw new Error(`it has not ended after ${LIMIT_MS / 1_000} s; until then it has printed\n${printed}`);
    });
    await Promise.race([import(pathToFileURL(file).href), slow]);
    return { printed };
  } catch (error) {
    return { printed, problem: String((error as Error).stack ?? error) };
  } finally {
    process.stdout.write = write;
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

for (const file of process.argv.slice(2)) write(`${JSON.stringify(await perform(path.resolve(file)))}\n`);
// What a program that has not ended holds open is not waited for.
process.exit();
