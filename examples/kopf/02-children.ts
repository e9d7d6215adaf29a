/**
 * A child for each object. `adopt` gives it the namespace, the labels and a reference to its owner: Kubernetes deletes the
 * pod together with its owner, so no handler for the deletion is needed.
 */
import { Operator } from "lotse";
import { Pod } from "lotse/client";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-children" });

operator.on.create(KopfExample, async function createFn({ spec, name, adopt, client }) {
  const pod = Pod.gen({
    generateName: `${name}-`,
    image: "busybox",
    command: ["sh", "-c", `echo "FIELD=$FIELD"; sleep ${spec.duration ?? 0}`],
    env: { FIELD: spec.field ?? "default-value" },
  });
  await client.create(adopt(pod));
  return { children: [pod.uid] };
});

export default operator;
