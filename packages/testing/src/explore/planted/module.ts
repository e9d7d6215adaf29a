/** An operator with a mistake and its scenario, as threads load them. */
import { ConfigMap } from "@lotse/client";
import { Operator } from "lotse";
import type { Scenario } from "../stage.ts";
import { Shop, shop } from "./kinds.ts";

const operator = new Operator({ name: "planted" });

operator.on.create(Shop, async function open({ name, adopt, client, patch }) {
  const made = await client.create(adopt(ConfigMap.gen({ generateName: `${name}-`, data: {} })));
  patch.status.child = made.name;
});

export default operator;

/** Two of them. */
export const scenario: Scenario = async ({ client, settle }) => {
  await client.create(shop("one"));
  await settle();
  await client.create(shop("two"));
  await settle();
};
