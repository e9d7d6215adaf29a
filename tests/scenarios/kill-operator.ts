/**
 * An operator in a process of its own, to be killed. Prints a line when a handler begins and when it is done; the
 * handler of the object that STUCK_ON names never ends.
 */
import { Client } from "@lotse/client";
import { Operator, resource } from "lotse";
import { z } from "zod";

export const Job = resource({
  group: "kill.example.com",
  version: "v1",
  kind: "Job",
  spec: z.object({}),
  status: z.object({ done: z.boolean().optional() }),
});

const operator = new Operator({ name: "killed" });

operator.on.create(Job, async function work({ name, patch, signal }) {
  process.stdout.write(`begin ${name}\n`);
  if (name === process.env.STUCK_ON) await new Promise((_, reject) => signal.addEventListener("abort", reject));
  patch.status.done = true;
  process.stdout.write(`done ${name}\n`);
});

const client = await Client.connect();
const running = operator.start({ client, crds: "install", log: () => {} });
process.once("SIGTERM", () => void running.stop());
await running.ready;
process.stdout.write("ready\n");
await running.stopped;
await client.close();
