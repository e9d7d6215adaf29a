/** Labels each Pod with what its container says of its operating system: `os-release/ID=debian` and so on. */
import { Operator, TemporaryError } from "lotse";
import { ExecError, Pod } from "lotse/client";
import { labelsOf } from "./os-release.ts";

const operator = new Operator({ name: "os-labels" });

operator.on(["create", "resume"], Pod, async function labelPod({ object: pod, logger }) {
  if (!(await pod.ready())) throw new TemporaryError("the pod is not ready yet", { delay: "10s" });
  let labels: Record<string, string>;
  try {
    const { stdout } = await pod.exec(["cat", "/etc/os-release"]);
    labels = labelsOf(stdout);
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    // There are images without an os-release, and images without cat.
    labels = { "os-release/id": "unknown" };
  }
  await pod.label(labels);
  logger.info("labelled", { labels: Object.keys(labels).length });
});

export default operator;
