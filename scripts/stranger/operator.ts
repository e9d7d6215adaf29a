import { Operator, resource } from "lotse";
import { ConfigMap } from "lotse/client";
import { z } from "zod";

export const Greeting = resource({
  group: "stranger.example.com",
  version: "v1",
  kind: "Greeting",
  spec: z.object({ text: z.string().min(1) }),
  status: z.object({ published: z.boolean().optional() }),
});

const operator = new Operator({ name: "stranger" });

operator.on.create(Greeting, async function publishGreeting({ spec, name, adopt, client, patch, logger }) {
  await client.create(adopt(ConfigMap.gen({ name: `${name}-greeting`, data: { text: spec.text.toUpperCase() } })));
  patch.status.published = true;
  logger.info("greeting published");
});

export default operator;
