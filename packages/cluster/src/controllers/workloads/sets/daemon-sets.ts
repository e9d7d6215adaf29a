import { matcher } from "../claim.ts";
import { slowStart, type Watch, type Workload, watchChildren } from "../engine.ts";
import { createPod, deletePod } from "../pod-control.ts";
import { DAEMON_SETS, isDeleting, NODES, PODS, REVISIONS } from "../tables.ts";
import { keyOf, type WorkloadApi } from "../workload-api.ts";
import { daemonPod, daemonStatus, POD_HASH, planDaemonSet } from "./daemon-set-plan.ts";
import { keepHistory, outlivedRevisions } from "./revisions.ts";

/** A daemon that failed is not replaced faster than this, and ever slower while it goes on failing. */
const FIRST_DELAY = 1_000;
const LONGEST_DELAY = 900_000;

const everyNode: Watch = {
  table: NODES.name,
  wakes: (_, api) => api.list(DAEMON_SETS).map(keyOf),
};

/** DaemonSets: one pod on every node that fits. */
export function daemonSets(api: WorkloadApi): Workload {
  const backoff = new Backoff();
  return {
    table: DAEMON_SETS.name,
    watches: [watchChildren(DAEMON_SETS, PODS, ({ spec }) => spec.selector), everyNode],
    weigh: (key) => Math.max(api.total(NODES), api.countOf(PODS, api.read(DAEMON_SETS, key)?.metadata.uid)),
    async reconcile(key) {
      const set = api.read(DAEMON_SETS, key);
      if (!set || isDeleting(set)) {
        backoff.forget(key);
        return undefined;
      }
      const matches = matcher(set.spec.selector);
      const pods = await api.claim(DAEMON_SETS, set, PODS, matches);
      const history = await keepHistory(api, DAEMON_SETS, set, POD_HASH);
      const hash = history.present.metadata.labels?.[POD_HASH] ?? "";
      const input = { set, nodes: api.list(NODES), pods, hash, now: api.now };
      const plan = planDaemonSet(input);
      const wait = plan.notes.some(({ type }) => type === "Warning") ? backoff.wait(key, api.now) : 0;
      if (wait > 0) return wait;
      for (const note of plan.notes) await api.event(set, note.type, note.reason, note.message);
      await slowStart(plan.create.length, (at) => createPod(api, set, daemonPod(set, plan.create[at] as string, hash)));
      for (const pod of plan.remove) await deletePod(api, set, pod);
      await api.pause();
      const left = api.ofOwner(PODS, set.metadata.uid).filter(({ metadata }) => matches(metadata.labels));
      const { status, again } = daemonStatus({ ...input, pods: left, now: api.now }, history.collisionCount);
      await api.report(DAEMON_SETS, set, status);
      const inUse = new Set([history.present.metadata.name]);
      for (const revision of history.all) {
        const used = left.some((pod) => pod.metadata.labels?.[POD_HASH] === revision.metadata.labels?.[POD_HASH]);
        if (used) inUse.add(revision.metadata.name);
      }
      for (const revision of outlivedRevisions(history.all, inUse, set.spec.revisionHistoryLimit ?? 10)) {
        await api.remove(REVISIONS, revision);
      }
      return again;
    },
  };
}

/** How long to wait before the next failed pod of a set is replaced. */
class Backoff {
  readonly #records = new Map<string, { readonly delay: number; readonly since: number }>();

  /** 0 when the turn may go on, which counts. */
  wait(key: string, now: number): number {
    const record = this.#records.get(key);
    if (record && now < record.since + record.delay) return record.since + record.delay - now;
    // Long without a failure: the next one counts as the first.
    const calm = !record || now > record.since + 2 * LONGEST_DELAY;
    this.#records.set(key, { delay: calm ? FIRST_DELAY : Math.min(record.delay * 2, LONGEST_DELAY), since: now });
    return 0;
  }

  forget(key: string): void {
    this.#records.delete(key);
  }
}
