/** A deployment in its simplest form: one Pod for each SimpleDeployment, which says something and sleeps. */
import { immutable, Operator, resource } from "lotse";
import { Pod } from "lotse/client";
import { z } from "zod";

export const SimpleDeployment = resource({
  group: "example.org",
  version: "v1",
  kind: "SimpleDeployment",
  spec: z.object({
    /** In seconds. What a container runs is fixed when its Pod is made, so this is, too. */
    sleepytime: immutable(z.string().regex(/^\d+$/).default("0"), "a Pod sleeps as long as it was told at first"),
  }),
  status: z.object({ createPod: z.object({ children: z.array(z.string()) }).optional() }),
  shortNames: ["simdep", "sd"],
  columns: [
    { name: "Children", type: "string", path: ".status.createPod.children", description: "the uid of its pod" },
  ],
});

const operator = new Operator({ name: "simple-deployment", crds: "install" });

/** What a handler returns goes into the status, under the handler's name. */
operator.on.create(SimpleDeployment, async function createPod({ spec, adopt, client, logger }) {
  const pod = Pod.gen({
    containerName: "simple",
    image: "busybox",
    command: ["sh", "-c"],
    args: [`echo "I'm so very useful!"; exec sleep ${spec.sleepytime}`],
    restartPolicy: "Never",
  });
  // Named exactly as its owner: an attempt that is cut off and made again finds the Pod of the first one.
  const { name, uid } = await client.apply(adopt(pod, { strict: true }));
  logger.info("the pod is there", { pod: name });
  return { children: [uid] };
});

export default operator;
