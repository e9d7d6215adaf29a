/**
 * An operator inside of another program: `start` returns at once, `ready` and `stop` say the rest, and what the program
 * knows reaches the handlers as `memo`. Any number of operators can run in one process.
 */
import { pathToFileURL } from "node:url";
import { Operator } from "lotse";
import { Client } from "lotse/client";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-embedded", crds: "install" });

operator.on.create(KopfExample, function createFn({ memo, name }) {
  return { message: `${memo.hello}, ${name}!` };
});

operator.on.delete(KopfExample, function deleteFn({ memo, name, logger }) {
  logger.info("the object goes", { message: `${memo.goodbye}, ${name}!` });
});

/** The program: it works with objects that its own operator handles. */
export async function main(client: Client, steps = 3): Promise<string[]> {
  await using running = operator.start({ client, memo: { hello: "Hello", goodbye: "Good bye" } });
  await running.ready;
  const greetings: string[] = [];
  for (let step = 0; step < steps; step++) {
    const object = await client.create(new KopfExample({ metadata: { name: `kopf-example-${step}` }, spec: {} }));
    await object.wait(({ body }) => body.status?.createFn !== undefined);
    const { createFn } = object.status ?? {};
    greetings.push((createFn as { message: string }).message);
    await object.delete({ wait: true });
  }
  return greetings;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await using client = await Client.connect();
  console.log((await main(client)).join("\n"));
}
