/** Which runs are worth trying, out of what an undisturbed run did. Pure. */
import { type ActorObject, isNoise, type PointKey, pointText, type Trace, type WritePoint } from "./trace.ts";

/** One disturbance of a run. */
export type Plan =
  /** The operator dies at a write, and lives again. `stale`: its next list of that resource does not show the write. */
  | {
      readonly kind: "crash";
      readonly where: "before" | "after" | "late";
      readonly at: PointKey;
      readonly stale?: string | undefined;
    }
  /** A write is carried out, and the operator hears only that the connection broke. */
  | { readonly kind: "lose"; readonly at: PointKey }
  /** A write never reaches the server, and the operator hears that the connection broke. */
  | { readonly kind: "refuse"; readonly at: PointKey }
  /** An event comes late: when the operator is quiet, or after its next write. */
  | { readonly kind: "delay"; readonly at: PointKey; readonly until: "quiet" | "write" }
  /** An event is never seen, only the next one of its object. */
  | { readonly kind: "coalesce"; readonly at: PointKey }
  /** An event comes twice, the second time after everything else. */
  | { readonly kind: "repeat"; readonly at: PointKey }
  /** The object that a write is made for is deleted right before, and may be made again. */
  | { readonly kind: "interrupt"; readonly at: PointKey; readonly recreate: boolean; readonly step: number }
  /** At the end of a step, when all is quiet, an object is deleted and made again under the same name. */
  | { readonly kind: "again"; readonly step: number; readonly object: ActorObject }
  /** The operator is dead from the end of one step to the end of another; the same one: it dies at rest, and lives again. */
  | { readonly kind: "down"; readonly from: number; readonly to: number; readonly stale?: string | undefined };

/** The name of a plan, by which a failure can be seen again. */
export function planId(plan: Plan): string {
  const stale = "stale" in plan && plan.stale !== undefined ? `, stale ${plan.stale}` : "";
  switch (plan.kind) {
    case "crash":
      return `crash ${plan.where} ${pointText(plan.at)}${stale}`;
    case "delay":
      return `delay past ${plan.until} ${pointText(plan.at)}`;
    case "interrupt":
      return `${plan.recreate ? "delete and recreate" : "delete"} before ${pointText(plan.at)}`;
    case "again":
      return `recreate ${objectText(plan.object)} after step ${plan.step}`;
    case "down":
      return plan.from === plan.to
        ? `restart after step ${plan.from}${stale}`
        : `down during steps ${plan.from + 1} to ${plan.to}${stale}`;
    default:
      return `${plan.kind} ${pointText(plan.at)}`;
  }
}

/** `Shop default/one` */
export function objectText({ kind, namespace, name }: ActorObject): string {
  return `${kind} ${[namespace, name].filter(Boolean).join("/")}`;
}

/** What is tried, and how much was left out because it cannot differ from something that is. */
export interface Planned {
  readonly plans: readonly Plan[];
  readonly pruned: number;
}

/** All plans, the most telling of each sort first, sorts taking turns; `random` decides among equals. */
export function planRuns(trace: Trace, random: () => number): Planned {
  const groups = [
    crashes(trace),
    downs(trace),
    interruptions(trace),
    losses(trace),
    successors(trace),
    staleLists(trace),
    delays(trace),
    merges(trace),
    late(trace),
    repeats(trace),
  ];
  const pruned = groups.reduce((sum, group) => sum + group.pruned, 0);
  const queues = groups.map(({ plans }) => shuffled(plans, random));
  const plans: Plan[] = [];
  const seen = new Set<string>();
  let equal = 0;
  for (let i = 0; queues.some((queue) => i < queue.length); i++) {
    for (const queue of queues) {
      const plan = queue[i];
      if (!plan) continue;
      if (seen.has(planId(plan))) equal++;
      else plans.push(plan);
      seen.add(planId(plan));
    }
  }
  return { plans, pruned: pruned + equal };
}

function crashes({ writes, externals }: Trace): Planned {
  const plans: Plan[] = [];
  let pruned = 0;
  writes.forEach((write, i) => {
    const before = writes[i - 1];
    plans.push({ kind: "crash", where: "after", at: keyOf(write) });
    // Between two writes the cluster does not change by the operator's hand: to die after the one is to die before the other.
    const isEqual =
      before?.done !== undefined &&
      before.done.order < write.order &&
      before.step === write.step &&
      before.at === write.at &&
      !externals.some((order) => order > (before.done?.order ?? 0) && order < write.order);
    if (isEqual) pruned++;
    else plans.push({ kind: "crash", where: "before", at: keyOf(write) });
  });
  return { plans, pruned };
}

function losses({ writes }: Trace): Planned {
  const plans = writes.flatMap((write): Plan[] => [
    { kind: "lose", at: keyOf(write) },
    { kind: "refuse", at: keyOf(write) },
  ]);
  return { plans, pruned: 0 };
}

/** Only what handlers send themselves: the record of a life that is over is written by the next one anyway. */
function late({ writes }: Trace): Planned {
  const own = writes.filter(({ actor, subresource }) => actor !== undefined && subresource === undefined);
  return {
    plans: own.map((write) => ({ kind: "crash", where: "late", at: keyOf(write) })),
    pruned: writes.length - own.length,
  };
}

function interruptions({ writes }: Trace): Planned {
  const able = writes.filter(({ actor, deleting }) => actor !== undefined && !deleting);
  const plans = able.flatMap((write) =>
    [false, true].map((recreate): Plan => ({ kind: "interrupt", at: keyOf(write), recreate, step: write.step })),
  );
  return { plans, pruned: (writes.length - able.length) * 2 };
}

/** Each object once for each step in which anything was written for it. */
function successors({ writes }: Trace): Planned {
  const plans = writes.flatMap(({ actor, deleting, step }): Plan[] =>
    actor === undefined || deleting || step === 0 ? [] : [{ kind: "again", step, object: actor }],
  );
  const seen = new Set<string>();
  const distinct = plans.filter((plan) => !seen.has(planId(plan)) && seen.add(planId(plan)));
  return { plans: distinct, pruned: 0 };
}

function downs({ steps, failed }: Trace): Planned {
  const plans: Plan[] = [];
  let pruned = 0;
  for (let step = 0; step < steps; step++) {
    if (step > 0) plans.push({ kind: "down", from: step, to: step });
    if (step + 1 <= steps - 1) plans.push({ kind: "down", from: step, to: step + 1 });
    if (step + 2 > steps - 1) continue;
    // Whoever never saw the last good state of what is refused now cannot keep what was made of it.
    if ([...failed].some((one) => one > step)) pruned++;
    else plans.push({ kind: "down", from: step, to: step + 2 });
  }
  return { plans, pruned };
}

function staleLists({ writes, steps, cached }: Trace): Planned {
  const plans: Plan[] = [];
  let pruned = 0;
  for (const write of writes) {
    const structural = ["create", "apply", "delete"].includes(write.verb);
    if (!cached.includes(write.resource) || !structural) pruned++;
    else plans.push({ kind: "crash", where: "after", at: keyOf(write), stale: write.resource });
  }
  for (let step = 1; step < steps; step++) {
    for (const resource of cached) plans.push({ kind: "down", from: step, to: step, stale: resource });
  }
  return { plans, pruned };
}

function delays({ events, writes }: Trace): Planned {
  const plans: Plan[] = [];
  let pruned = 0;
  for (const event of events) {
    if (event.own && event.type !== "DELETED") {
      // The operator lays its own writes over what it was shown, so that it cannot tell.
      pruned += 2;
      continue;
    }
    plans.push({ kind: "delay", at: keyOf(event), until: "quiet" });
    const followed = writes.some(({ order, step }) => order > event.order && step === event.step);
    if (followed) plans.push({ kind: "delay", at: keyOf(event), until: "write" });
    else pruned++;
  }
  return { plans, pruned };
}

function merges({ events }: Trace): Planned {
  const plans: Plan[] = [];
  let pruned = 0;
  for (const event of events) {
    const next = events.find(({ order, object }) => order > event.order && object === event.object);
    if (next && next.step === event.step && !(event.own && next.own)) {
      plans.push({ kind: "coalesce", at: keyOf(event) });
    } else pruned++;
  }
  return { plans, pruned };
}

function repeats({ events }: Trace): Planned {
  const foreign = events.filter(({ own }) => !own);
  return {
    plans: foreign.map((event) => ({ kind: "repeat", at: keyOf(event) })),
    pruned: events.length - foreign.length,
  };
}

function keyOf({ label, nth }: WritePoint | PointKey): PointKey {
  return { label, nth };
}

/** In a random order; the same one for the same numbers. */
function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

/** Only what both of two undisturbed runs did can be waited for in another. */
export function commonTrace(one: Trace, other: Trace): Trace {
  const keys = new Set([...other.writes, ...other.events].map(pointText));
  const common = <T extends PointKey>(points: readonly T[]) => points.filter((point) => keys.has(pointText(point)));
  return {
    ...one,
    writes: common(one.writes).filter(({ resource }) => !isNoise(resource)),
    events: common(one.events),
    steps: Math.min(one.steps, other.steps),
    failed: new Set([...one.failed, ...other.failed]),
  };
}
