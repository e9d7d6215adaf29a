/** What a controller knows of one object, in the words of people who ask. */
import { apiVersionOf, type KindDescription, type KubeBody } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import type { ObjectRecord } from "../declare/index.ts";
import type { QueuedState } from "../queue/index.ts";
import type {
  Elsewhere,
  Explanation,
  FailedHandler,
  OpenHandler,
  RunningAttempt,
  RunningHandler,
} from "../report/index.ts";
import { isDeleting, type KindWork, type ObjectMemory } from "../turn/index.ts";

/** Whether a kind has this name among its names, with or without its group. */
export function hasName({ kind, plural, singular, shortNames, group }: KindDescription, asked: string): boolean {
  const wanted = asked.toLowerCase();
  const names = [kind, plural, singular, ...shortNames].map((name) => name.toLowerCase());
  return names.some((name) => wanted === name || (group !== "" && wanted === `${name}.${group}`));
}

/** An object that this process does not work on: what its record says is what another one has done. */
export function explainElsewhere(
  { kind, target: { storage, handlers }, essenceOf }: Pick<KindWork, "kind" | "target" | "essenceOf">,
  body: KubeBody,
  elsewhere: Elsewhere,
  clock: Pick<Clock, "now" | "monotonic">,
): Omit<Explanation, "operator" | "turns"> {
  const reading = storage.read(body, handlers, essenceOf(body));
  const record = reading.type === "found" ? reading.record : undefined;
  const memory = { uid: body.metadata?.uid ?? "", life: { state: "new" }, record } as const;
  return { ...explainObject(kind, memory, body, undefined, clock), state: "elsewhere", elsewhere };
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

function runningHandler(
  { handler: { id, sourceLocation }, runId, since }: RunningAttempt,
  now: number,
): RunningHandler {
  return { handler: id, runId, ...(sourceLocation !== undefined && { place: sourceLocation }), forMs: now - since };
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
