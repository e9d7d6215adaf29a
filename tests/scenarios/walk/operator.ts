/**
 * The operator whose walk is followed: one kind, one handler of its changes. Runs in a process of its own, because a
 * program that is being debugged stands still, and walk.test.ts must not.
 */
import { Worker } from "node:worker_threads";
import { Client } from "@lotse/client";
import { Operator, resource } from "lotse";
import { z } from "zod";

/** What the test says to this process. */
export type Command = { readonly command: "begin" | "arm" | "look"; readonly [detail: string]: unknown };

const Walker = resource({
  group: "walk.example.com",
  version: "v1",
  kind: "Walker",
  spec: z.object({ steps: z.number() }),
  status: z.object({ walked: z.number().optional() }),
});

const say = (message: object) => process.send?.(message);

const debug = new Worker(new URL("debugger.mjs", import.meta.url), { execArgv: [] });
debug.on("message", say);
debug.on("error", (error) => say({ done: "debugger", error: String(error) }));
const told = new Promise<void>((resolve) => {
  debug.on("message", ({ done }) => {
    if (done === "begin") resolve();
  });
});
debug.postMessage({ command: "begin" });
await told;

const operator = new Operator({ name: "walking" });
let onHandled = () => {};

operator.on.update(Walker, async function yourHandler({ spec, patch }) {
  patch.status.walked = spec.steps;
  onHandled();
});

const client = await Client.connect();
const running = operator.start({ client, crds: "install", log: () => {} });

process.on("message", (message: Command) => debug.postMessage(message));
process.on("disconnect", () => process.exit());

await running.ready;
for (;;) {
  const handled = new Promise<void>((resolve) => {
    onHandled = resolve;
  });
  await running.idle();
  say({ done: "idle" });
  await handled;
}
