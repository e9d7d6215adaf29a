/**
 * Compares the two worlds: each object when it has not changed for a while in either of them, and nobody is at work on it.
 * Keeps what differs, and tells when something begins or ceases to.
 */
import { apiVersionOf, type KubeBody } from "@lotse/client";
import type { Clock, ObjectKey } from "@lotse/client/meta";
import type { Actor, ObjectReference } from "../report/index.ts";
import { fieldText } from "./compare.ts";
import { diffLines } from "./diff-text.ts";
import type { Fork } from "./fork.ts";
import type { KindWorld } from "./kind-world.ts";
import type { Untried } from "./refusal.ts";
import type { ShadowDifference } from "./report.ts";
import { type Bench, type Disagreement, judge, keptBy } from "./verdict.ts";

/** What a {@link Judge} is made of. */
export interface JudgeParts {
  readonly clock: Clock;
  readonly bench: Bench;
  /** So long neither world has to change an object before it is compared. */
  readonly settleMs: number;
  /** Whether it is known what the cluster has of a kind. */
  readonly isCurrent: (world: KindWorld) => boolean;
  /** Whether the shadow has something to do for an object right now. */
  readonly isBusy: (object: ObjectReference) => boolean;
  /** Whether an object goes, or has gone, with its owner. */
  readonly goesWithOwner: (body: KubeBody) => boolean;
  readonly onFound: (difference: ShadowDifference) => void;
  readonly onOver: (difference: ShadowDifference) => void;
}

interface Place {
  readonly world: KindWorld;
  readonly key: ObjectKey;
}

interface Found extends Place {
  readonly difference: ShadowDifference;
  /** Of the owners: what makes up for a deletion is made for the same one. */
  readonly owners: readonly string[];
  /** It stays although the object is gone in both worlds. */
  readonly lasts: boolean;
  /** Both versions may have made it up at random. */
  readonly random: boolean;
}

/** See the module comment. */
export class Judge {
  readonly #parts: JudgeParts;
  /** Since when an object has not changed (monotonic). */
  readonly #unsettled = new Map<string, Place & { readonly since: number }>();
  readonly #found = new Map<string, Found>();
  readonly #untried = new Map<string, Untried>();
  #compared = 0;
  #over = 0;
  #changedAt: number;
  #cancel: (() => void) | undefined;

  constructor(parts: JudgeParts) {
    this.#parts = parts;
    this.#changedAt = parts.clock.monotonic();
  }

  /** What differs now and is certain, in the order of kinds and names. */
  get differences(): readonly ShadowDifference[] {
    return this.#sorted((one) => !this.#isBlocked(one));
  }

  /** What differs, perhaps only because something could not be tried, or is not known. */
  get undecided(): readonly ShadowDifference[] {
    return this.#sorted((one) => this.#isBlocked(one));
  }

  get untried(): readonly Untried[] {
    return [...this.#untried.values()];
  }

  /** Objects that have yet to settle. */
  get unsettled(): number {
    return this.#unsettled.size;
  }

  /** How often an object was compared, and how many differences have ceased to be. */
  get counts(): { readonly compared: number; readonly over: number } {
    return { compared: this.#compared, over: this.#over };
  }

  /** For how long nothing has begun or ceased to differ, and everything is settled (milliseconds). */
  get quietMs(): number {
    return this.#unsettled.size > 0 ? 0 : Math.floor(this.#parts.clock.monotonic() - this.#changedAt);
  }

  /** The shadow has begun to work: it is quiet from now on at the earliest. */
  begin(): void {
    this.#changedAt = this.#parts.clock.monotonic();
  }

  /** An object has changed in one of the worlds. */
  changed(world: KindWorld, key: ObjectKey): void {
    const fork = world.fork(key);
    const id = idOf(world, key);
    // What neither version has touched, and what is gone in both worlds, has nothing to settle.
    if ((!fork || fork.alike) && !this.#found.has(id)) {
      this.#unsettled.delete(id);
      return;
    }
    this.#unsettled.set(id, { world, key, since: this.#parts.clock.monotonic() });
    this.#madeUpFor(world, fork);
    this.#schedule();
  }

  /** What differs may be the same after all: something is known by another name. */
  reconsider(): void {
    const since = this.#parts.clock.monotonic();
    for (const [id, { world, key, lasts }] of this.#found) {
      if (!lasts) this.#unsettled.set(id, { world, key, since });
    }
    this.#schedule();
  }

  /** Something could not be tried, or could and is not compared; true the first time. */
  untriedBy(what: string, refused: boolean, actor: Actor | undefined): boolean {
    const { handlers = [], object } = actor ?? {};
    const key = `${what} ${handlers.join()} ${object?.uid ?? ""}`;
    const known = this.#untried.get(key);
    this.#untried.set(key, { what, refused, handlers, object, times: (known?.times ?? 0) + 1 });
    if (!known) this.#changedAt = this.#parts.clock.monotonic();
    return known === undefined;
  }

  /** Nothing is compared any more. */
  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #schedule(): void {
    if (this.#cancel || this.#unsettled.size === 0) return;
    const { clock, settleMs } = this.#parts;
    // Those that changed last stand at the end: a map keeps the order in which keys came first.
    const since = Math.min(...[...this.#unsettled.values()].slice(0, LOOKED_AT).map((one) => one.since));
    this.#cancel = clock.after(Math.max(settleMs / 4, since + settleMs - clock.monotonic()), () => {
      this.#cancel = undefined;
      this.#look();
      this.#schedule();
    });
  }

  #look(): void {
    const { clock, settleMs } = this.#parts;
    const now = clock.monotonic();
    for (const [id, place] of [...this.#unsettled]) {
      if (now - place.since < settleMs) continue;
      if (!this.#parts.isCurrent(place.world) || this.#isBusy(place)) continue;
      this.#unsettled.delete(id);
      this.#compare(id, place);
    }
  }

  /** The shadow works for the object, or for one that it belongs to. */
  #isBusy({ world, key }: Place): boolean {
    const { is, would, last } = world.fork(key) ?? {};
    const body = would ?? is ?? last;
    if (!body) return false;
    const owners = (body.metadata?.ownerReferences ?? []).map(({ apiVersion, kind, name, uid }) => {
      return { apiVersion, kind, namespace: body.metadata?.namespace, name, uid };
    });
    return [referenceOf(world, body), ...owners].some((object) => this.#parts.isBusy(object));
  }

  #compare(id: string, { world, key }: Place): void {
    // A counterpart may have come since, or its owner may be known under another name.
    if (world.bindOwn(key) !== key) return;
    const fork = world.fork(key);
    this.#compared++;
    if (fork?.deletion === "held") {
      this.#end(id, { world, key }, fork);
      return;
    }
    const found = fork && judge(fork, this.#parts.bench);
    if (found && fork) this.#note(id, { world, key }, fork, found, false);
    else if (!this.#found.get(id)?.lasts) this.#drop(id);
  }

  /** A deletion that the shadow did not wish for: from now on it knows of it. */
  #end(id: string, place: Place, fork: Fork): void {
    const body = fork.is ?? fork.last;
    const withOwner = body !== undefined && this.#parts.goesWithOwner(body);
    if (!withOwner) this.#note(id, place, fork, keptBy(fork, this.#parts.bench), true);
    place.world.release(place.key);
  }

  /** Whatever the shadow makes for the same owner makes up for what was deleted: both versions repair, so nobody differs. */
  #madeUpFor(world: KindWorld, fork: Fork | undefined): void {
    if (!fork?.would || fork.by.length === 0) return;
    const owners = fork.would.metadata?.ownerReferences?.map(({ uid }) => uid) ?? [];
    for (const [id, one] of this.#found) {
      if (one.lasts && one.world === world && one.owners.some((uid) => owners.includes(uid))) this.#drop(id);
    }
  }

  #note(id: string, place: Place, fork: Fork, found: Disagreement, lasts: boolean): void {
    const body = fork.is ?? fork.would ?? fork.last;
    if (!body) return;
    const before = this.#found.get(id);
    const difference = this.#describe(place.world, body, found, before?.difference.since);
    if (before && isSame(before.difference, difference)) return;
    const owners = body.metadata?.ownerReferences?.map(({ uid }) => uid) ?? [];
    this.#found.set(id, { ...place, difference, owners, lasts, random: found.random });
    this.#changedAt = this.#parts.clock.monotonic();
    this.#parts.onFound(difference);
  }

  #drop(id: string): void {
    const found = this.#found.get(id);
    if (!found) return;
    this.#found.delete(id);
    this.#over++;
    this.#changedAt = this.#parts.clock.monotonic();
    this.#parts.onOver(found.difference);
  }

  #describe(world: KindWorld, body: KubeBody, found: Disagreement, since: string | undefined): ShadowDifference {
    const { verdict, fields, handlers, objects, is, would } = found;
    const { apiVersion, kind, namespace, name, uid } = referenceOf(world, body);
    return {
      verdict,
      apiVersion,
      kind,
      ...(namespace !== undefined && { namespace }),
      name,
      ...(uid !== undefined && { uid }),
      fields: fields.map((one) => ({ path: fieldText(one), is: one.is, would: one.would })),
      handlers,
      objects: objects.map((one) => ({ kind: one.kind, namespace: one.namespace, name: one.name })),
      since: since ?? new Date(this.#parts.clock.now()).toISOString(),
      diff: diffLines(is, would, this.#parts.bench.same),
    };
  }

  /** What the old version did while the shadow was kept from trying says nothing. */
  #isBlocked({ difference, owners, world, key, random }: Found): boolean {
    if (random) return true;
    if (difference.handlers.length > 0) return false;
    const { is, would, uncertain } = world.fork(key) ?? {};
    if (uncertain) return true;
    const uids = [is?.metadata?.uid, would?.metadata?.uid, difference.uid, ...owners];
    return this.untried.some(
      ({ refused, object }) => refused && object?.uid !== undefined && uids.includes(object.uid),
    );
  }

  #sorted(isMeant: (one: Found) => boolean): readonly ShadowDifference[] {
    const titled = ({ kind, namespace = "", name }: ShadowDifference) => `${kind} ${namespace}/${name}`;
    return [...this.#found.values()]
      .filter(isMeant)
      .map(({ difference }) => difference)
      .sort((a, b) => (titled(a) < titled(b) ? -1 : 1));
  }
}

/** Enough to find when the next one settles; the rest is looked at then. */
const LOOKED_AT = 100;

function idOf({ kind }: KindWorld, key: ObjectKey): string {
  return `${kind.plural}.${kind.group} ${key}`;
}

function referenceOf({ kind }: KindWorld, body: KubeBody): ObjectReference {
  const { namespace, name = "", uid } = body.metadata ?? {};
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, namespace, name, uid };
}

function isSame(a: ShadowDifference, b: ShadowDifference): boolean {
  return a.verdict === b.verdict && a.uid === b.uid && a.diff.join("\n") === b.diff.join("\n");
}
