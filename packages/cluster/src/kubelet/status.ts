import { type ApiObject, isRecord, listAt, objectAt, timestamp } from "../registry/index.ts";
import { type ContainerRecord, type Ended, endOf, type PodStage, type RestartPolicy, stageOf } from "./containers.ts";

import type { PodSize } from "./resize.ts";

type Fields = Record<string, unknown>;

/** Everything about a pod that its status is made of. */
export interface PodObservation {
  readonly records: readonly ContainerRecord[];
  readonly policy: RestartPolicy;
  /** When the node took the pod. */
  readonly since: number;
  readonly hostIp: string;
  /** Known when the pod has its sandbox. */
  readonly podIp: string | undefined;
  /** Why the whole pod has failed, when none of its containers is to blame. */
  readonly failure: { readonly reason: string; readonly message: string } | undefined;
  /** It is being deleted, and none of its containers will run any more. */
  readonly over: boolean;
  /** What its containers were given. */
  readonly size: PodSize;
}

/** The status of a pod as a kubelet reports it, over what others have written there. Pure. */
export function podStatus(pod: ApiObject, observed: PodObservation, now: number): Fields {
  const { records, failure } = observed;
  const stage = stageNow(observed);
  const phase = phaseOf(stage, records);
  // What never began because the pod went before still shows what it waited for.
  const shown = observed.over ? stageOf(records, observed.policy) : stage;
  const old = objectAt(pod, "status");
  const generation = pod.metadata.generation;
  return {
    ...old,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    phase,
    ...(failure?.reason ? { reason: failure.reason } : {}),
    ...(failure?.message ? { message: failure.message } : {}),
    conditions: conditionsOf(pod, observed, stage, now),
    hostIP: observed.hostIp,
    hostIPs: [{ ip: observed.hostIp }],
    ...(observed.podIp === undefined ? {} : { podIP: observed.podIp, podIPs: [{ ip: observed.podIp }] }),
    startTime: timestamp(observed.since),
    ...statusList("initContainerStatuses", observed, shown, ({ role }) => role === "init" || role === "sidecar"),
    ...statusList("containerStatuses", observed, shown, ({ role }) => role === "main"),
    ...statusList("ephemeralContainerStatuses", observed, shown, ({ role }) => role === "ephemeral"),
  };
}

function stageNow({ records, policy, failure, over }: PodObservation): PodStage {
  if (failure) return { at: "done", failed: true };
  return over ? endOf(records) : stageOf(records, policy);
}

function phaseOf(stage: PodStage, records: readonly ContainerRecord[]): string {
  if (stage.at === "done") return stage.failed ? "Failed" : "Succeeded";
  if (stage.at === "initializing") return "Pending";
  const mains = records.filter((record) => record.role === "main");
  return mains.every((record) => record.state.at === "running" || record.state.at === "ended" || record.last)
    ? "Running"
    : "Pending";
}

function statusList(
  key: string,
  { records, size }: PodObservation,
  stage: PodStage,
  belongs: (record: ContainerRecord) => boolean,
): Fields {
  const chosen = records.filter(belongs);
  return chosen.length === 0 ? {} : { [key]: chosen.map((record) => containerStatus(record, stage, size)) };
}

function containerStatus(record: ContainerRecord, stage: PodStage, size: PodSize): Fields {
  const image = String(record.spec.image ?? "");
  const id = idOf(record);
  // While the next run is being prepared, the state is still that of the run before.
  const shown = record.state.at === "starting" && record.last ? undefined : record.last;
  return {
    ...(id === "" ? {} : { containerID: id }),
    image,
    imageID: id === "" ? "" : `lotse://${image}`,
    lastState: shown ? { terminated: terminated(shown) } : {},
    name: record.name,
    ready: isReady(record),
    restartCount: record.restarts,
    ...(record.role === "ephemeral" ? {} : { started: record.started }),
    state: stateOf(record, stage),
    ...(id === "" ? {} : sizeOf(record, size)),
  };
}

/** What it was given, and what it has: for others to see that pods of this node can be resized. */
function sizeOf({ name, state }: ContainerRecord, size: PodSize): Fields {
  const { requests } = size.given(name);
  return {
    ...(isRecord(requests) && Object.keys(requests).length > 0 ? { allocatedResources: requests } : {}),
    resources: state.at === "running" ? size.had(name) : size.given(name),
  };
}

/** Whether an ephemeral container is ready does not count. */
function isReady({ role, state, ready }: ContainerRecord): boolean {
  if (role === "init") return state.at === "ended" && state.exit.exitCode === 0;
  return role !== "ephemeral" && ready;
}

function idOf({ state, last }: ContainerRecord): string {
  if (state.at === "running") return state.container.id;
  return state.at === "ended" ? state.id : (last?.id ?? "");
}

function stateOf(record: ContainerRecord, stage: PodStage): Fields {
  const { state, last } = record;
  switch (state.at) {
    case "running":
      return { running: { startedAt: timestamp(state.since) } };
    case "ended":
      return { terminated: terminated(state) };
    case "starting":
      return last ? { terminated: terminated(last) } : { waiting: { reason: state.reason } };
    case "waiting": {
      const blocked =
        stage.at === "initializing" && stage.next !== record && record.runs === 0 && record.role !== "ephemeral";
      const reason = blocked ? "PodInitializing" : state.reason;
      return { waiting: { reason, ...(state.message && !blocked ? { message: state.message } : {}) } };
    }
  }
}

function terminated({ id, since, until, exit }: Ended): Fields {
  return {
    ...(id === "" ? {} : { containerID: id }),
    exitCode: exit.exitCode,
    ...(exit.signal === undefined ? {} : { signal: exit.signal }),
    reason: exit.reason ?? (exit.exitCode === 0 ? "Completed" : "Error"),
    ...(exit.message ? { message: exit.message } : {}),
    startedAt: since === undefined ? null : timestamp(since),
    finishedAt: until === undefined ? null : timestamp(until),
  };
}

const RESIZE = ["PodResizePending", "PodResizeInProgress"];

interface Verdict {
  readonly type: string;
  readonly holds: boolean;
  readonly reason?: string;
  readonly message?: string;
}

function conditionsOf(pod: ApiObject, observed: PodObservation, stage: PodStage, now: number): Fields[] {
  const old = listAt(pod, "status", "conditions");
  const verdicts = [
    { type: "PodReadyToStartContainers", holds: observed.podIp !== undefined && stage.at !== "done" },
    initialized(observed.records, stage),
    ready(pod, observed.records, stage),
    containersReady(observed.records, stage),
  ];
  const generation = pod.metadata.generation;
  const ours = verdicts.map((verdict): Fields => {
    const before = old.find((condition) => condition.type === verdict.type);
    const status = verdict.holds ? "True" : "False";
    return {
      type: verdict.type,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      status,
      lastProbeTime: null,
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : timestamp(now),
      ...(verdict.reason ? { reason: verdict.reason } : {}),
      ...(verdict.message ? { message: verdict.message } : {}),
    };
  });
  const known = new Set([...verdicts.map(({ type }) => type), ...RESIZE]);
  const others = old.filter((condition) => !known.has(String(condition.type)));
  return [...ours, ...(stage.at === "done" ? [] : observed.size.conditions()), ...others];
}

function initialized(records: readonly ContainerRecord[], stage: PodStage): Verdict {
  const type = "Initialized";
  const missing = records.filter(
    (record) =>
      (record.role === "init" && !(record.state.at === "ended" && record.state.exit.exitCode === 0)) ||
      (record.role === "sidecar" && !record.started && stage.at !== "done"),
  );
  if (missing.length === 0) return { type, holds: true, ...finished(stage) };
  return { type, holds: false, reason: "ContainersNotInitialized", message: names("incomplete status", missing) };
}

function containersReady(records: readonly ContainerRecord[], stage: PodStage): Verdict {
  const type = "ContainersReady";
  if (stage.at === "done") return { type, holds: false, reason: stage.failed ? "PodFailed" : "PodCompleted" };
  const missing = records.filter(({ role, ready }) => (role === "main" || role === "sidecar") && !ready);
  if (missing.length === 0) return { type, holds: true };
  return { type, holds: false, reason: "ContainersNotReady", message: names("unready status", missing) };
}

/** Ready containers, and every gate that another controller holds open. */
function ready(pod: ApiObject, records: readonly ContainerRecord[], stage: PodStage): Verdict {
  const containers = containersReady(records, stage);
  if (!containers.holds) return { ...containers, type: "Ready" };
  const conditions = listAt(pod, "status", "conditions");
  const shut = listAt(pod, "spec", "readinessGates")
    .map((gate) => String(gate.conditionType))
    .filter((type) => !conditions.some((condition) => condition.type === type && condition.status === "True"));
  if (shut.length === 0) return { type: "Ready", holds: true };
  const message = shut.map((type) => `corresponding condition of pod readiness gate "${type}" does not exist.`);
  return { type: "Ready", holds: false, reason: "ReadinessGatesNotReady", message: message.join(", ") };
}

const finished = (stage: PodStage) => (stage.at === "done" && !stage.failed ? { reason: "PodCompleted" } : {});

function names(what: string, records: readonly ContainerRecord[]): string {
  return `containers with ${what}: [${records.map((record) => record.name).join(" ")}]`;
}

/** Puts a pod on a node: what a scheduler does. */
export function bindPod(pod: ApiObject, node: string, now: number): ApiObject {
  const { nominatedNodeName: _, ...status } = objectAt(pod, "status");
  return {
    ...pod,
    spec: { ...objectAt(pod, "spec"), nodeName: node },
    status: { ...status, conditions: withCondition(pod, now, { type: "PodScheduled", status: "True" }) },
  };
}

/** The pod with the reason why no node takes it. */
export function unschedulablePod(pod: ApiObject, reason: string, message: string, now: number): ApiObject {
  const condition = { type: "PodScheduled", ...observed(pod), status: "False", reason, message };
  return { ...pod, status: { ...objectAt(pod, "status"), conditions: withCondition(pod, now, condition) } };
}

/** The pod with the node on which others make room for it. */
export function nominatedPod(pod: ApiObject, node: string): ApiObject {
  return { ...pod, status: { ...objectAt(pod, "status"), nominatedNodeName: node } };
}

/** The pod with the reason why the scheduler, the eviction by taints or the garbage collector makes it go. */
export function disruptedPod(pod: ApiObject, reason: string, message: string, now: number): ApiObject {
  const condition = { type: "DisruptionTarget", ...observed(pod), status: "True", reason, message };
  return { ...pod, status: { ...objectAt(pod, "status"), conditions: withCondition(pod, now, condition) } };
}

/** What a scheduler has said about a pod. */
export function scheduledCondition(pod: ApiObject): Readonly<Fields> | undefined {
  return listAt(pod, "status", "conditions").find((condition) => condition.type === "PodScheduled");
}

const observed = ({ metadata: { generation } }: ApiObject) =>
  generation === undefined ? {} : { observedGeneration: generation };

function withCondition(pod: ApiObject, now: number, { type, ...what }: Fields): Fields[] {
  const all = listAt(pod, "status", "conditions");
  const before = all.find((condition) => condition.type === type);
  const lastTransitionTime = before?.status === what.status ? before?.lastTransitionTime : timestamp(now);
  return [
    ...all.filter((condition) => condition !== before),
    { type, lastProbeTime: null, lastTransitionTime, ...what },
  ];
}
