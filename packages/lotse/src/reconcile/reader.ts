/** One reconciler of one object: what it has read, and whether something has happened since. */
import type { KubeBody } from "@lotse/client";
import type { ReconcileHandler } from "../declare/index.ts";
import { noteWake, type ObjectMemory } from "../turn/index.ts";
import { NEW, type Timing } from "./due.ts";
import { type Change, changeName, type Reader, type ReadPoint } from "./reads.ts";
import type { ReadSession } from "./session.ts";

const NOTHING: readonly ReadPoint[] = [];

/** See the module comment. */
export class ObjectReader implements Reader {
  readonly handler: ReconcileHandler;
  readonly memory: ObjectMemory;
  timing: Timing = NEW;
  /** The state of the object that the last run looked at, with own writes since. */
  saw: KubeBody | undefined;
  /** The run that is under way. */
  session: ReadSession | undefined;
  /** What the last run has read. */
  #points: readonly ReadPoint[] = NOTHING;
  readonly #wake: (key: string) => void;
  #accepted: Map<string, string> | undefined;

  constructor(handler: ReconcileHandler, memory: ObjectMemory, wake: (key: string) => void) {
    this.handler = handler;
    this.memory = memory;
    this.#wake = wake;
  }

  /** For children: what the server made of what was applied, where that differs; by `namespace/name`. */
  get accepted(): Map<string, string> {
    this.#accepted ??= new Map();
    return this.#accepted;
  }

  /** How much it depends on. */
  get points(): readonly ReadPoint[] {
    return this.#points;
  }

  onChange(point: ReadPoint, change: Change): void {
    const { session } = this;
    if (!session) {
      this.due(describe(point, change));
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
    else this.due(what);
  }

  /** Something has happened that it has to look at; `what` says what, for people. */
  due(what: string): void {
    this.timing = { ...this.timing, due: true };
    noteWake(this.memory, { by: "read", what });
    this.memory.hurried = true;
    this.#wake(this.memory.key);
  }

  /** The operator has written the object: who had seen what was written over has seen this as well. */
  wrote(base: string | undefined, body: KubeBody): void {
    if (this.saw !== undefined && this.saw.metadata?.resourceVersion === base) this.saw = body;
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
  }

  /** Depends on nothing any more. */
  release(): void {
    for (const point of this.#points) point.reads.forget(point, this);
    this.#points = NOTHING;
    this.saw = undefined;
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
