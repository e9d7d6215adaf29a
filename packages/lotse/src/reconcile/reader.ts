/** One reconciler of one object: what it has read, and whether something has happened since. */
import type { KubeBody } from "@lotse/client";
import type { IdentityKey } from "@lotse/client/meta";
import type { ReconcileHandler } from "../declare/index.ts";
import {
  ask,
  type Contribution,
  isAlive,
  isDeleting,
  noteWake,
  type ObjectMemory,
  ROW_LIMIT,
  type Standing,
} from "../turn/index.ts";
import { isCounted } from "./changes.ts";
import { NotesOfChildren } from "./children-notes.ts";
import { NEW, type Timing, wokenByWrite } from "./due.ts";
import { hasPart, newsFor } from "./news.ts";
import { type Change, changeName, NewState, type Reader, type ReadPoint } from "./reads.ts";
import type { ReadSession } from "./session.ts";

const NOTHING: readonly ReadPoint[] = [];

/** See the module comment. */
export class ObjectReader implements Reader {
  readonly handler: ReconcileHandler;
  readonly memory: ObjectMemory;
  timing: Timing = NEW;
  /** Whether the object is one that it is for. */
  applies = true;
  /** How it stands after its last run; undefined before the first. */
  standing: Standing | undefined;
  /** Of children: how they stand after the run under way, if it has got so far. */
  children: Standing | undefined;
  /** Of children: what is remembered of each. */
  readonly notes = new NotesOfChildren();
  /** The state of the object that the last run looked at, or that the next one is due for. */
  saw: KubeBody | undefined;
  /** What the turn under way has written that the next run has to look at, in words. */
  woken: string | undefined;
  /** The run that is under way. */
  session: ReadSession | undefined;
  /** What the last run has read. */
  #points: readonly ReadPoint[] = NOTHING;
  readonly #wake: (key: IdentityKey) => void;
  /** People know that it keeps waking itself. */
  #told = false;
  /** It has read its own object like any other, and that has changed: with the turn's write it is known by whom. */
  #mirrored: { readonly version: string | undefined; readonly what: string } | undefined;

  constructor(handler: ReconcileHandler, memory: ObjectMemory, wake: (key: IdentityKey) => void) {
    this.handler = handler;
    this.memory = memory;
    this.#wake = wake;
  }

  /** How much it depends on. */
  get points(): readonly ReadPoint[] {
    return this.#points;
  }

  onChange(point: ReadPoint, change: Change): void {
    const { session } = this;
    if (!session) {
      this.#changed(describe(point, change), change);
      return;
    }
    // What this run has not read yet it will read anew, or not at all.
    if (!session.has(point)) return;
    if (change.by === this) session.outdate(point);
    else session.news(nameOf(change), describe(point, change), point);
  }

  claim(body: KubeBody, gone: boolean): void {
    this.session?.claim(changeName(body, gone));
  }

  /** An object that it owns or watches has changed. */
  onMapped(change: Change, kind: string): void {
    // One's own writes are news only if one has read there before, and then the read tells.
    if (change.by === this) return;
    const { namespace, name, resourceVersion } = (change.now ?? change.before)?.metadata ?? {};
    const what = `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}, version ${resourceVersion}`;
    if (this.session) this.session.news(nameOf(change), what, undefined);
    else this.#changed(what, change);
  }

  /** What its own object has become is looked at in its turn, which comes; a cleanup that waits for it is not held up. */
  #changed(what: string, { by }: Change): void {
    const own = by instanceof NewState && by.key === this.memory.key;
    if (own && isAlive(this.memory.life)) this.#mirrored = { version: by.version, what };
    else this.due(what);
  }

  /** Something has happened that it has to look at; `what` says what, for people. */
  due(what: string): void {
    this.timing = { ...this.timing, due: true };
    noteWake(this.memory, { by: "read", what });
    ask(this.memory, "retryCleanupNow");
    this.#wake(this.memory.key);
  }

  /**
   * The turn has written the object over `base`; `by`: who wanted what. A reconciler that had seen what was written
   * over, and has wanted all of it, has seen this as well. What others have put there is news, if it counts.
   */
  wrote(base: KubeBody, body: KubeBody, by: readonly Contribution[], now: number): void {
    const { saw, handler } = this;
    if (saw === undefined) return;
    if (saw.metadata?.resourceVersion !== base.metadata?.resourceVersion) {
      // What did not count by itself may count together with this.
      const counts = handler.changes.length > 0 && isCounted(handler.changes, saw, body);
      if (counts || this.#mirrored) this.#wakeBy(this.#mirrored?.what ?? "the object itself", false, now);
      return;
    }
    const mirrored = this.#mirrored?.version === body.metadata?.resourceVersion ? this.#mirrored : undefined;
    if (mirrored) this.#mirrored = undefined;
    this.saw = body;
    if (isDeleting(body)) return;
    const news = newsFor(handler.id, saw, body, by);
    if (news && isCounted(handler.changes, news.before(), body)) {
      const what = `${news.fields.join(", ")} of the object itself, written by ${news.by.join(", ")}`;
      this.#wakeBy(what, news.peers, now);
      return;
    }
    // It has read what it, or another handler, has then changed, and has not read it again.
    const known = news === undefined && !hasPart(handler.id, by);
    if (mirrored && !known) this.#wakeBy(mirrored.what, news === undefined || news.peers, now);
    else if (news) this.saw = news.before();
  }

  #wakeBy(what: string, loops: boolean, now: number): void {
    this.timing = wokenByWrite(this.timing, loops, now);
    this.woken = what;
  }

  /** Whether the object is not what the last run has seen, in a way that counts. */
  isNews(body: KubeBody): boolean {
    const { saw } = this;
    const mirrored = this.#mirrored !== undefined;
    this.#mirrored = undefined;
    if (saw === undefined || mirrored) return true;
    if (saw.metadata?.resourceVersion === body.metadata?.resourceVersion) return false;
    return isCounted(this.handler.changes, saw, body);
  }

  /** Whether it keeps waking itself; true once for each row. */
  isLooping(): boolean {
    const loops = this.timing.selfWoken > ROW_LIMIT;
    const first = loops && !this.#told;
    this.#told = loops;
    return first;
  }

  /** A run is over. After one that did not get to its end, what it depended on before still counts. */
  remember(session: ReadSession, complete: boolean): void {
    const read = [...session.points];
    const former = this.#points.filter((point) => !session.has(point));
    for (const what of session.unclaimed) this.due(what);
    if (complete) {
      for (const point of former) point.reads.forget(point, this);
      this.#points = read;
    } else this.#points = [...former, ...read];
    // Let go while the run was under way: what it has read wakes nobody.
    if (this.memory.left) this.release();
  }

  /** Depends on nothing any more. */
  release(): void {
    for (const point of this.#points) point.reads.forget(point, this);
    this.#points = NOTHING;
    this.#mirrored = undefined;
    this.saw = undefined;
    this.standing = undefined;
  }
}

function nameOf({ before, now }: Change): string {
  return changeName(now ?? before, now === undefined);
}

function describe(point: ReadPoint, { before, now }: Change): string {
  if (!before && !now) return point.text;
  const { namespace, name = "", resourceVersion } = (now ?? before)?.metadata ?? {};
  const object = `${namespace === undefined ? "" : `${namespace}/`}${name}`;
  const what = before === undefined ? "appeared" : now === undefined ? "is gone" : "changed";
  return `${point.text}: ${object} ${what}${now && resourceVersion ? `, version ${resourceVersion}` : ""}`;
}
