/**
 * What the programs of the pages meet in the pods of a real cluster: something inside of images. Just enough of it for
 * the pages to print what they would print there.
 */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import type { Cluster, ExecCall } from "@lotse/cluster";

/** Containers know a handful of commands; those without one serve a page on port 80. */
export async function playImages(cluster: Cluster): Promise<AsyncDisposable> {
  const web = http.createServer((_, response) => response.end("<h1>It works!</h1>\n")).listen(0, "127.0.0.1");
  await once(web, "listening");
  const archives = new Map<string, Buffer>();
  cluster.pods.program(() => true, {
    exec: (call) => (call.command[0] === "tar" ? runTar(call, archives) : runCommand(call)),
    run: ({ pod, container, log }) => {
      const { containers } = pod.body.spec as { containers: { name: string; command?: string[] }[] };
      const { command } = containers.find(({ name }) => name === container) ?? {};
      if (command) return runWords(command, log);
      log("ready to serve");
    },
    ports: { 80: (web.address() as AddressInfo).port },
  });
  return {
    async [Symbol.asyncDispose]() {
      web.closeAllConnections();
      web.close();
    },
  };
}

/** `tar -xmf - -C folder` and `tar -cf - -C folder name`: a folder gives back what was put into it. */
async function runTar({ pod, command, stdin, stdout }: ExecCall, archives: Map<string, Buffer>) {
  const [, flags = "", , , folder] = command;
  const place = `${pod.name}:${folder}`;
  if (!flags.includes("x")) return stdout(archives.get(place) ?? "");
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin) chunks.push(chunk);
  archives.set(place, Buffer.concat(chunks));
}

async function runCommand(call: ExecCall) {
  const [name, ...rest] = call.command;
  if (name === "hostname") return `${call.pod.name}\n`;
  if (name === "cat" && rest.length === 0) return call.text();
  let stdout = "";
  const exitCode = runWords(call.command, (line) => {
    stdout += `${line}\n`;
  });
  return exitCode === undefined ? { exitCode: 127, stderr: `${name}: not found\n` } : { stdout, exitCode };
}

/** The exit code; none when the command is not known, or goes on for ever. */
function runWords([name, ...rest]: readonly string[], print: (line: string) => void): number | undefined {
  if (name === "true") return 0;
  if (name === "false") return 1;
  if (name === "exit") return Number(rest[0]);
  if (name === "echo") {
    print(rest.join(" "));
    return 0;
  }
  if (name !== "sh") return undefined;
  let code: number | undefined = 0;
  for (const line of (rest[1] ?? "").split(";")) code = runWords(line.trim().split(/\s+/), print);
  return code;
}
