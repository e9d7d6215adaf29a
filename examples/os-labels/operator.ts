/** Labels each Pod with what its container says of its operating system: `os-release/id=debian` and so on. */
import { absent, Operator, TemporaryError } from "lotse";
import { ExecError, Pod } from "lotse/client";
import { labelsOf } from "./os-release.ts";

const operator = new Operator({ name: "os-labels" });

// Pods that have the label were labelled before this operator was started, and are left alone.
const unlabelled = { labels: { "os-release/id": absent } } as const;

operator.on(["create", "resume"], Pod, unlabelled, async function labelPod({ object: pod, logger }) {
  // It may have been deleted while it was waited for.
  if (!(await pod.exists())) return;
  if (!(await pod.ready())) throw new TemporaryError(`Pod ${pod.name} is not ready yet`, { delay: "10s" });
  try {
    const { stdout } = await pod.exec(["cat", "/etc/os-release"]);
    await pod.label(labelsOf(stdout));
  } catch (error) {
    if (!isMissing(error)) throw error;
    logger.error("the image has no /etc/os-release, or no cat", { error: error.message });
    await pod.label({ "os-release/id": "unknown" });
  }
});

/** Whether the command was at fault. Anything else, such as a connection that breaks, is worth another attempt. */
function isMissing(error: unknown): error is ExecError {
  return error instanceof ExecError && (error.failure === "exit" || error.failure === "server");
}

export default operator;
