/** A deployment in its simplest form: one Pod for each SimpleDeployment, which sleeps for as long as it is told. */
import { Operator, resource } from "lotse";
import { Pod } from "lotse/client";
import { z } from "zod";

export const SimpleDeployment = resource({
  group: "simple.example.com",
  version: "v1",
  kind: "SimpleDeployment",
  spec: z.object({ sleepytime: z.number().int().min(1).default(60) }),
  status: z.object({ createPod: z.object({ children: z.array(z.string()) }).optional() }),
  shortNames: ["sd"],
  columns: [
    { name: "Sleepytime", type: "integer", path: ".spec.sleepytime" },
    { name: "Children", type: "string", path: ".status.createPod.children" },
  ],
});

const operator = new Operator({ name: "simple-deployment", crds: "install" });

/** What a handler returns goes into the status, under the handler's name. */
operator.on.create(SimpleDeployment, async function createPod({ spec, name, adopt, client, logger }) {
  const pod = Pod.gen({
    // Always the same name: an attempt that is cut off and made again finds the Pod of the first one.
    name: `${name}-pod`,
    image: "busybox",
    command: ["sleep", String(spec.sleepytime)],
    restartPolicy: "Never",
  });
  const created = await client.apply(adopt(pod));
  logger.info("the pod is there", { pod: created.name });
  return { children: [created.uid] };
});

export default operator;
