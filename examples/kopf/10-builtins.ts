/**
 * Built-in kinds are handled like any other: here every pod is deleted 30 seconds after it was seen, unless somebody else
 * deletes it before. The daemon ends with its pod, so nobody has to keep a list of what is to be cancelled.
 */
import { Operator } from "lotse";
import { Pod } from "lotse/client";

const operator = new Operator({ name: "kopf-builtins" });

const isOurs = ({ namespace }: { namespace: string | undefined }) => !namespace?.startsWith("kube-");

operator.daemon(Pod, { when: isOurs }, async function podKiller({ object: pod, sleep, signal, logger }) {
  logger.info("the pod is killed in 30 s");
  signal.addEventListener("abort", () => logger.info("the killing is cancelled"), { once: true });
  await sleep("30s");
  logger.info("the pod is killed now");
  await pod.delete();
});

export default operator;
