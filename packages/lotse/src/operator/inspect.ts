/** What a controller knows, in the words of those who ask: health for probes, explanations for people. */
import { apiVersionOf, type KindDescription, type KubeBody, type StreamState } from "@lotse/client";
import { type Clock, errorMessage } from "@lotse/client/meta";
import type { ObjectRecord } from "../declare/index.ts";
import type { QueuedState } from "../queue/index.ts";
import type {
  Explanation,
  FailedHandler,
  OpenHandler,
  RunningAttempt,
  RunningHandler,
  StreamHealth,
} from "../report/index.ts";
import { isDeleting, type ObjectMemory } from "../turn/index.ts";
import type { Scope } from "./scopes.ts";

/** What is asked of an informer. */
interface Stream {
  readonly stream: StreamState | undefined;
  readonly heardAt: number | undefined;
  readonly size: number;
}

/** How the stream of one scope is; `now` is monotonic. */
export function streamHealth(kind: KindDescription, namespace: Scope, informer: Stream, now: number): StreamHealth {
  const { phase: reported = "listing", since = now, error } = informer.stream ?? {};
  // A closed stream is one that is being moved to another version of its kind: it lists again at once.
  const phase = reported === "closed" ? "listing" : reported;
  const { hint } = (error ?? {}) as { hint?: string };
  return {
    kind: kind.kind,
    ...(namespace !== undefined && { namespace }),
    phase,
    forMs: now - since,
    quietMs: now - (informer.heardAt ?? now),
    objects: informer.size,
    ...(phase === "waiting" && { error: errorMessage(error), hint }),
  };
}

/** The same of a stream that only helps to know sooner what is found out anyway. */
export function sideStreamHealth(kind: KindDescription, stream: Stream, now: number): StreamHealth {
  return { ...streamHealth(kind, undefined, stream, now), optional: true };
}

/** Whether people mean this kind: by any of its names, with or without its group. */
export function isCalled({ kind, plural, singular, shortNames, group }: KindDescription, asked: string): boolean {
  const wanted = asked.toLowerCase();
  const names = [kind, plural, singular, ...shortNames].map((name) => name.toLowerCase());
  return names.some((name) => wanted === name || (group !== "" && wanted === `${name}.${group}`));
}

/** What one object does, and what it waits for. */
export function explainObject(
  kind: KindDescription,
  memory: Pick<ObjectMemory, "uid" | "life" | "record">,
  body: KubeBody,
  queued: QueuedState | undefined,
  clock: Pick<Clock, "now" | "monotonic">,
  running: readonly RunningAttempt[] = [],
): Omit<Explanation, "operator" | "turns"> {
  const { namespace, name = "", resourceVersion, generation } = body.metadata ?? {};
  return {
    object: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      ...(namespace !== undefined && { namespace }),
      name,
      uid: memory.uid,
      resourceVersion,
      generation,
      deleting: isDeleting(body),
    },
    state: memory.life.state === "gone" ? "gone" : queued === undefined ? "waits" : STATES[queued.is],
    ...(queued?.is === "delayed" && { nextAt: clock.now() + queued.dueAt - clock.monotonic() }),
    ...(running.length > 0 && { running: running.map((one) => runningHandler(one, clock.monotonic())) }),
    open: openHandlers(memory),
    ...(memory.record?.failed && { failed: failedHandlers(memory.record.failed) }),
  };
}

const STATES = { running: "working", ready: "queued", delayed: "waits" } as const;

function runningHandler({ handler: { id, place }, since }: RunningAttempt, now: number): RunningHandler {
  return { handler: id, ...(place !== undefined && { place }), forMs: now - since };
}

function failedHandlers(failed: ObjectRecord["failed"] & object): FailedHandler[] {
  return Object.entries(failed).map(([handler, { reason, message }]) => ({ handler, reason, message }));
}

/** Handlers of the object's present change that are not done. */
function openHandlers({ record }: Pick<ObjectMemory, "record">): OpenHandler[] {
  if (!record?.open) return [];
  const { reason } = record.open;
  return Object.entries(record.runs ?? {}).flatMap(([handler, run]) => {
    if (run.outcome !== undefined) return [];
    const done = Object.entries(run.steps ?? {}).filter(([, step]) => step.outcome === "done");
    const { attempts, message, due } = run;
    const steps = done.map(([name]) => name);
    return [{ handler, reason, attempts, message, retryAt: due, ...(steps.length > 0 && { steps }) }];
  });
}
