import { type ApiObject, isRecord, listAt, objectAt } from "../../registry/index.ts";
import { ageCell } from "./age.ts";

type Fields = Record<string, unknown>;

interface PodSummary {
  readonly ready: string;
  readonly status: string;
  readonly restarts: string;
}

/** What the columns of a pod say about its containers. The word for its state is not stored anywhere: it is worked out. */
export function summarizePod(pod: ApiObject, now: number): PodSummary {
  const status = objectAt(pod, "status");
  const containers = listAt(pod, "spec", "containers");
  const initContainers = listAt(pod, "spec", "initContainers");
  const sidecars = new Set(initContainers.filter((c) => c.restartPolicy === "Always").map((c) => c.name));
  let reason = String(status.reason ?? status.phase ?? "");
  if (listAt(pod, "status", "conditions").some((c) => c.type === "PodScheduled" && c.reason === "SchedulingGated")) {
    reason = "SchedulingGated";
  }
  let ready = 0;
  let restarts = 0;
  let sidecarRestarts = 0;
  let lastRestart: string | undefined;
  const note = (container: Fields) => {
    const ended = objectAt(container, "lastState", "terminated").finishedAt;
    if (typeof ended === "string" && (lastRestart === undefined || ended > lastRestart)) lastRestart = ended;
  };

  const init = initReason(listAt(pod, "status", "initContainerStatuses"), sidecars, initContainers.length);
  for (const container of listAt(pod, "status", "initContainerStatuses")) {
    restarts += Number(container.restartCount ?? 0);
    note(container);
    if (sidecars.has(container.name)) {
      sidecarRestarts += Number(container.restartCount ?? 0);
      if (container.ready === true) ready++;
    }
  }
  const initialized = listAt(pod, "status", "conditions").some((c) => c.type === "Initialized" && c.status === "True");
  if (init !== undefined && !initialized) reason = init;
  else {
    restarts = sidecarRestarts;
    let running = false;
    for (const container of listAt(pod, "status", "containerStatuses").reverse()) {
      restarts += Number(container.restartCount ?? 0);
      note(container);
      const word = containerReason(container);
      if (word !== undefined) reason = word;
      else if (container.ready === true && isRecord(objectAt(container, "state").running)) {
        running = true;
        ready++;
      }
    }
    if (reason === "Completed" && running) {
      const isReady = listAt(pod, "status", "conditions").some((c) => c.type === "Ready" && c.status === "True");
      reason = isReady ? "Running" : "NotReady";
    }
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (status.reason === "NodeLost") reason = "Unknown";
    else if (status.phase !== "Succeeded" && status.phase !== "Failed") reason = "Terminating";
  }
  const ago = restarts > 0 && lastRestart !== undefined ? ` (${ageCell(lastRestart, now)} ago)` : "";
  return { ready: `${ready}/${containers.length + sidecars.size}`, status: reason, restarts: `${restarts}${ago}` };
}

function containerReason(container: Fields): string | undefined {
  const waiting = objectAt(container, "state", "waiting").reason;
  if (waiting) return String(waiting);
  const ended = objectAt(container, "state").terminated;
  if (!isRecord(ended)) return undefined;
  if (ended.reason) return String(ended.reason);
  return ended.signal ? `Signal:${ended.signal}` : `ExitCode:${ended.exitCode ?? 0}`;
}

/** The state of the first init container that is not done; undefined when all are. */
function initReason(statuses: readonly Fields[], sidecars: ReadonlySet<unknown>, total: number): string | undefined {
  for (const [i, container] of statuses.entries()) {
    const ended = objectAt(container, "state").terminated;
    if (isRecord(ended) && Number(ended.exitCode ?? 0) === 0) continue;
    if (sidecars.has(container.name) && container.started === true) continue;
    if (isRecord(ended)) return `Init:${containerReason(container)}`;
    const waiting = objectAt(container, "state", "waiting").reason;
    if (waiting && waiting !== "PodInitializing") return `Init:${waiting}`;
    return `Init:${i}/${total}`;
  }
  return undefined;
}
