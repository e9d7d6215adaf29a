/** Empties a node, as `kubectl drain` does: by eviction, so that disruption budgets hold. */
import type { corev1, OwnerReference } from "../kinds/index.ts";
import { type Duration, durationMs, formatDuration, objectKeyOf, sleep } from "../meta/index.ts";
import { DrainError, type ObjectClient, WaitTimeoutError, type WriteOptions } from "../objects/index.ts";
import { NotFoundError, type RequestOptions, TooManyRequestsError } from "../transport/index.ts";
import type { Pod } from "./pod.ts";
import { isPodFinished } from "./pod-state.ts";

/** What may be lost, and how long it may take. */
export interface DrainOptions {
  /** Pods of DaemonSets stay: they would come back at once. Without it they are a reason to refuse. */
  readonly ignoreDaemonSets?: boolean | undefined;
  /** Also pods with `emptyDir` volumes, whose data is lost. */
  readonly deleteEmptyDirData?: boolean | undefined;
  /** Also pods that no controller brings back. */
  readonly force?: boolean | undefined;
  /** Instead of each pod's own. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Default: as long as it takes. */
  readonly timeout?: Duration | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How many pods at a time. Default 8. */
  readonly concurrency?: number | undefined;
  /** Hears what happens to each pod. */
  readonly onPod?: ((pod: Pod, what: "evicting" | "waiting" | "gone" | "left") => void) | undefined;
}

/** What draining needs of a node. */
interface DrainableNode {
  readonly name: string;
  cordon(o?: WriteOptions): Promise<unknown>;
  pods(o?: RequestOptions): Promise<Pod[]>;
}

/** How long a budget is given before it is asked again; kubectl waits as long. */
const ASK_AGAIN_MS = 5_000;
const MIRROR = "kubernetes.io/config.mirror";

/** Cordons the node and evicts its pods; resolves with those that are gone, or rejects with a DrainError. */
export async function drainNode(client: ObjectClient, node: DrainableNode, o: DrainOptions): Promise<Pod[]> {
  await node.cordon({ signal: o.signal });
  const { clock } = client;
  const deadline = o.timeout === undefined ? undefined : clock.monotonic() + durationMs(o.timeout);
  const pods = await node.pods({ signal: o.signal });
  const verdicts = pods.map((pod) => ({ pod, verdict: judge(pod.body, o) }));
  const refused = verdicts.flatMap(({ pod, verdict }) =>
    verdict.do === "refuse" ? [[objectKeyOf(pod.namespace, pod.name), verdict.why] as const] : [],
  );
  if (refused.length > 0) {
    const list = refused.map(([name, why]) => `${name} ${why}`).join("; ");
    throw new DrainError(`node ${node.name} is not drained: ${list}`, {
      pods: new Map(refused),
      hint: "the node is cordoned; allow it by ignoreDaemonSets, deleteEmptyDirData or force, or uncordon()",
    });
  }
  const left = verdicts.filter(({ verdict }) => verdict.do === "leave").map(({ pod }) => pod);
  for (const pod of left) o.onPod?.(pod, "left");
  const going = verdicts.filter(({ verdict }) => verdict.do === "evict").map(({ pod }) => pod);
  const stuck = new Map<string, string>();
  const queue = [...going];
  const worker = async () => {
    for (let pod = queue.shift(); pod; pod = queue.shift()) {
      const why = await removePod(client, pod, o, deadline);
      if (why === undefined) o.onPod?.(pod, "gone");
      else stuck.set(objectKeyOf(pod.namespace, pod.name), why);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, o.concurrency ?? 8) }, worker));
  if (stuck.size === 0) return going;
  const list = [...stuck].map(([name, why]) => `${name} ${why}`).join("; ");
  const patience = formatDuration(durationMs(o.timeout ?? 0));
  throw new DrainError(`node ${node.name} is not empty after ${patience}: ${list}`, {
    pods: stuck,
    hint: "look at the disruption budgets and finalizers of these pods, or give it more time",
  });
}

type Verdict = { do: "evict" } | { do: "leave" } | { do: "refuse"; why: string };

/** What is to become of a pod. */
export function judge({ metadata, spec, ...pod }: corev1.Pod, o: DrainOptions): Verdict {
  if (metadata?.annotations?.[MIRROR] !== undefined) return { do: "leave" };
  const controller = metadata?.ownerReferences?.find((owner: OwnerReference) => owner.controller);
  const finished = isPodFinished(pod);
  if (controller?.kind === "DaemonSet" && !finished) {
    return o.ignoreDaemonSets ? { do: "leave" } : { do: "refuse", why: "belongs to a DaemonSet" };
  }
  if (finished) return { do: "evict" };
  if (!controller && !o.force) return { do: "refuse", why: "has no controller that would bring it back" };
  const emptyDir = spec?.volumes?.some((volume) => volume.emptyDir !== undefined);
  if (emptyDir && !o.deleteEmptyDirData) return { do: "refuse", why: "has data in an emptyDir" };
  return { do: "evict" };
}

/** Evicts one pod and waits until it is gone; gives the reason when the time is over. */
async function removePod(
  client: ObjectClient,
  pod: Pod,
  o: DrainOptions,
  deadline: number | undefined,
): Promise<string | undefined> {
  const { clock } = client;
  const { signal, gracePeriodSeconds } = o;
  const left = () => (deadline === undefined ? Number.POSITIVE_INFINITY : deadline - clock.monotonic());
  o.onPod?.(pod, "evicting");
  for (;;) {
    try {
      await pod.evict({ signal, gracePeriodSeconds });
      break;
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      if (!(error instanceof TooManyRequestsError)) throw error;
      if (left() <= ASK_AGAIN_MS) return `may not be evicted: ${error.message}`;
      o.onPod?.(pod, "waiting");
      await sleep(clock, ASK_AGAIN_MS, signal);
    }
  }
  try {
    // A day is for ever here; a timer cannot take infinity.
    await pod.wait("delete", { signal, timeout: Math.max(0, Math.min(left(), 86_400_000)) });
    return undefined;
  } catch (error) {
    if (error instanceof WaitTimeoutError) return "is still there";
    throw error;
  }
}
