// What explore.mjs has threads try.
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";

const operator = new Operator({ name: "explored" });
operator.on.create(ConfigMap, { labels: { greet: "yes" } }, function greet({ patch }) {
  patch.metadata.annotations = { greeting: "hello" };
});

export default operator;

export async function scenario({ client, settle }) {
  await client.create(ConfigMap.gen({ name: "guest", labels: { greet: "yes" } }));
  await settle();
}
