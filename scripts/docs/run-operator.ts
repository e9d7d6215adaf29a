/** Runs the operator of a file on an embedded cluster, applies manifests, and expects it to handle each of them. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { KubeBody } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { load } from "js-yaml";
import { isOperator } from "lotse";

const [file = "", ...manifests] = process.argv.slice(2);
const { default: operator } = (await import(pathToFileURL(path.resolve(file)).href)) as { default: unknown };
if (!isOperator(operator)) throw new Error(`${file} exports no operator`);

const cluster = await Cluster.start();
const client = await cluster.connect();
const errors: string[] = [];
const running = operator.start({
  client,
  crds: "install",
  log: ({ level, message, fields }) => {
    if (level === "error" || level === "warn") errors.push(`${message} ${JSON.stringify(fields)}`);
  },
});
try {
  await running.ready;
  for (const manifest of manifests) {
    const object = await client.create(load(await readFile(manifest, "utf8")) as KubeBody);
    await object.wait(({ body }) => (body as KubeBody).status !== undefined, { timeout: "10s" });
  }
  if (errors.length > 0) throw new Error(errors.join("\n"));
} finally {
  await running.stop();
  await client.close();
  await cluster.stop();
}
