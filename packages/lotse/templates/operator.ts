import { Operator, resource } from "lotse";
import { ConfigMap } from "lotse/client";
import * as z from "zod";

/** A greeting that somebody wants in the cluster: from these lines come its CRD, its validation and its types. */
export const Greeting = resource({
  group: "my-operator.example.com",
  version: "v1",
  kind: "Greeting",
  spec: z.object({ to: z.string().min(1) }),
  status: z.object({ message: z.string().optional() }),
  columns: [{ name: "Message", type: "string", path: ".status.message" }],
});

const operator = new Operator({ name: "my-operator" });

operator.on.create(Greeting, async function greet({ spec, name, adopt, client, patch, logger }) {
  const message = `Hello, ${spec.to}!`;
  // The ConfigMap belongs to the greeting: Kubernetes deletes it together with its owner.
  await client.apply(adopt(ConfigMap.gen({ name: `${name}-greeting`, data: { message } })));
  patch.status.message = message;
  logger.info("greeting published", { to: spec.to });
});

operator.on.update(Greeting, async function greetAgain({ spec, name, client, patch, logger }) {
  const message = `Hello, ${spec.to}!`;
  await client.patch(ConfigMap, `${name}-greeting`, { data: { message } });
  patch.status.message = message;
  logger.info("greeting changed", { to: spec.to });
});

export default operator;
