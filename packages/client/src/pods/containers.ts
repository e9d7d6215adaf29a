/** Which container is meant, and does it run? Decisions over a pod's body, and one loop that waits. */
import type { corev1 } from "../kinds/index.ts";
import { ConfigError, formatDuration, sleep } from "../meta/index.ts";
import { nameOf, type PodAccess } from "./access.ts";
import { ContainerNotRunningError } from "./errors.ts";

const DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container";

/** Where a container stands. */
export type ContainerPhase =
  | { readonly phase: "running"; readonly restarts: number }
  /** `why` is the kubelet's word, such as `ContainerCreating`. */
  | { readonly phase: "waiting"; readonly why: string; readonly restarts: number; readonly ranBefore: boolean }
  /** It will not run again. */
  | { readonly phase: "finished"; readonly exitCode: number | undefined; readonly restarts: number };

/** All containers of a pod: the ordinary ones, those that prepare it, and those for debugging. */
export function containersOf({ spec }: corev1.Pod): string[] {
  const all = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []), ...(spec?.ephemeralContainers ?? [])];
  return all.map((container) => container.name);
}

/**
 * The container that is meant: the named one, else the one that the annotation
 * `kubectl.kubernetes.io/default-container` names, else the first.
 */
export function chooseContainer(pod: corev1.Pod, wanted?: string): string {
  const names = containersOf(pod);
  if (wanted !== undefined) {
    if (names.includes(wanted)) return wanted;
    throw new ConfigError(`pod ${pod.metadata?.name} has no container ${JSON.stringify(wanted)}`, {
      hint: `it has ${names.join(", ")}`,
    });
  }
  const preferred = pod.metadata?.annotations?.[DEFAULT_CONTAINER];
  if (preferred !== undefined && names.includes(preferred)) return preferred;
  const first = names[0];
  if (first === undefined) throw new ConfigError(`pod ${pod.metadata?.name} has no containers`);
  return first;
}

/** Where `container` stands, by what the kubelet has reported last. */
export function phaseOf({ spec, status }: corev1.Pod, container: string): ContainerPhase {
  const over = status?.phase === "Succeeded" || status?.phase === "Failed";
  const found = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ].find(({ name }) => name === container);
  if (found === undefined) {
    if (over) return { phase: "finished", exitCode: undefined, restarts: 0 };
    const why = spec?.nodeName === undefined ? "the pod has no node yet" : "its node has not reported it yet";
    return { phase: "waiting", why: status?.reason ?? why, restarts: 0, ranBefore: false };
  }
  const { state = {}, lastState, restartCount: restarts } = found;
  if (state.running) return { phase: "running", restarts };
  if (state.terminated && (over || !isRestarted(spec, container, state.terminated.exitCode))) {
    return { phase: "finished", exitCode: state.terminated.exitCode, restarts };
  }
  const ranBefore = state.terminated !== undefined || lastState?.terminated !== undefined;
  return {
    phase: "waiting",
    why: state.waiting?.reason ?? state.terminated?.reason ?? "not started",
    restarts,
    ranBefore,
  };
}

function isRestarted(spec: corev1.PodSpec | undefined, container: string, exitCode: number): boolean {
  if (spec?.ephemeralContainers?.some(({ name }) => name === container)) return false;
  const prepares = spec?.initContainers?.find(({ name }) => name === container);
  // One that prepares is done once it has succeeded, unless it runs beside the others.
  if (prepares) return prepares.restartPolicy === "Always" || (exitCode !== 0 && spec?.restartPolicy !== "Never");
  const policy = spec?.restartPolicy ?? "Always";
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

/** How often the pod is read while its container starts: soon at first, then calmly. */
const pollMs = (round: number): number => Math.min(1_000, 100 * 1.5 ** round);

/**
 * Reads the pod until its container runs; resolves with the container's name and the pod as it was then. With
 * `mustRun: false` it only finds out which container is meant.
 */
export async function awaitRunning(
  pod: PodAccess,
  o: { container?: string | undefined; limitMs: number; mustRun: boolean; signal?: AbortSignal | undefined },
): Promise<{ container: string; body: corev1.Pod }> {
  const startedAt = pod.clock.monotonic();
  for (let round = 0; ; round++) {
    const body = await pod.read({ signal: o.signal });
    const container = chooseContainer(body, o.container);
    const state = phaseOf(body, container);
    if (state.phase === "running" || !o.mustRun) return { container, body };
    const who = `container ${container} of ${nameOf(pod)}`;
    if (state.phase === "finished") {
      const code = state.exitCode === undefined ? "" : ` with code ${state.exitCode}`;
      throw new ContainerNotRunningError(`${who} has ended${code} and will not run again`, {
        hint: "look at its logs; commands can only be run while it is running",
      });
    }
    const delay = pollMs(round);
    if (pod.clock.monotonic() - startedAt + delay > o.limitMs) {
      throw new ContainerNotRunningError(`${who} did not run within ${formatDuration(o.limitMs)}: ${state.why}`, {
        hint: "look at the pod's events, or pass a longer `timeout`",
      });
    }
    await sleep(pod.clock, delay, o.signal);
  }
}
