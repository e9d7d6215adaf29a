/**
 * Labels a pod with what its container says of its operating system: `os-release/ID=debian` and so on.
 *
 *     npx tsx label-pod.ts NAME      (Node.js 24 and newer: node label-pod.ts NAME)
 *
 * Uses the current context and its namespace, as kubectl does.
 */
import { Client, KubeError, Pod } from "@lotse/client";

/** The lines of an os-release file: `ID=debian`, `NAME="Debian GNU/Linux"`, and comments. */
function* readOsRelease(text: string): Generator<[key: string, value: string]> {
  for (const line of text.split("\n")) {
    const [, key, quoted] = /^([^#=\s]+)=(.*)$/.exec(line.trim()) ?? [];
    if (key !== undefined && quoted !== undefined) yield [key, quoted.replace(/^(["'])(.*)\1$/, "$2")];
  }
}

/** What is left of a text that may stand in a label: letters, digits, `-`, `_` and `.`, and no more than 63 of them. */
function clean(text: string): string {
  const trimmed = (part: string) => part.replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "");
  return trimmed(trimmed(text.replace(/[^-A-Za-z0-9_.]+/g, "_")).slice(0, 63));
}

async function labelPod(name: string): Promise<void> {
  await using client = await Client.connect();
  const pod = Pod.ref(name, { client });
  if (!(await pod.exists())) throw new KubeError(`there is no pod ${name} in the namespace ${client.namespace}`);
  if (!(await pod.ready()))
    throw new KubeError(`the pod ${name} is not ready`, { hint: `kubectl describe pod ${name}` });

  const { stdout } = await pod.exec(["cat", "/etc/os-release"]);
  const labels: Record<string, string> = {};
  for (const [key, value] of readOsRelease(stdout)) labels[`os-release/${clean(key)}`] = clean(value);

  await pod.label(labels);
  for (const [key, value] of Object.entries(labels)) console.log(`${key}=${value}`);
}

const [name] = process.argv.slice(2);
if (name === undefined) {
  console.error("usage: label-pod NAME");
  process.exitCode = 2;
} else {
  await labelPod(name).catch((error: unknown) => {
    if (!(error instanceof KubeError)) throw error;
    console.error(error.hint === undefined ? error.message : `${error.message}\n${error.hint}`);
    process.exitCode = 1;
  });
}
