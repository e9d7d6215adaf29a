/**
 * Takes away from objects what none of their readers has named. Who asks for a field that was taken away must not take it
 * for one that is not there: the object refuses, and says which field and why. That costs nothing where it does not happen:
 * all objects of a kind share one prototype for each level of the kept fields, which is only asked for what the object
 * itself does not have, and which knows the names of what was taken away. An object that never had the field says
 * `undefined`, as it always did; so do `in`, spreading and JSON, which look at what is there and not at what was asked for.
 */
import type { KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import { PermanentError } from "./errors.ts";
import { ALWAYS_KEPT, type Kept, keptText } from "./kept.ts";

const CUT = Symbol("lotse.cut");

/** Names that are remembered of one level. A map has any number: beyond that each unknown name is taken for one of them. */
const MOST_NAMES = 1_000;

/** What is asked of any object by the language and by libraries, whether or not it has it. */
const ASKED_OF_ALL: ReadonlySet<PropertyKey> = new Set(["then", "toJSON", "constructor", "__proto__"]);

/** What is kept at one level. */
interface Level {
  /** Undefined: all of it. */
  readonly members: ReadonlyMap<string, Level> | undefined;
  readonly dropped: Set<string>;
  readonly prototype: object;
}

/** Whether parts of an object were taken away. */
export function isCut(object: object): boolean {
  return (object as { readonly [CUT]?: true })[CUT] === true;
}

/**
 * See the module comment.
 *
 * @example
 * ```ts
 * const { cut } = new Cutter("Pod", [["status", "phase"]]);
 * cut(pod).status.phase; // "Running"
 * cut(pod).status.podIP; // throws: status.podIP of Pod is not kept …
 * ```
 */
export class Cutter {
  readonly #top: Level;

  constructor(kind: string, kept: Exclude<Kept, "all">) {
    const paths = [...ALWAYS_KEPT.map((key) => [key]), ...kept];
    this.#top = levelOf(paths, [], (path) => refusal(kind, path, kept));
  }

  /** A copy that has only what is kept; what is kept whole is shared with the body. */
  readonly cut = (body: KubeBody): KubeBody => cutAt(this.#top, body) as KubeBody;
}

function cutAt({ members, dropped, prototype }: Level, value: unknown): unknown {
  // Nothing can be named below a list or a single value: it is kept as it is.
  if (members === undefined || !isObject(value)) return value;
  const left: Record<string, unknown> = { __proto__: prototype } as never;
  for (const key of Object.keys(value)) {
    const member = members.get(key);
    if (member) left[key] = cutAt(member, value[key]);
    else if (dropped.size < MOST_NAMES) dropped.add(key);
  }
  return left;
}

function levelOf(
  paths: readonly (readonly string[])[],
  at: readonly string[],
  refuse: (path: readonly string[]) => Error,
): Level {
  const dropped = new Set<string>();
  if (paths.some((path) => path.length === 0)) return { members: undefined, dropped, prototype: Object.prototype };
  const members = new Map<string, Level>();
  for (const key of new Set(paths.map(([first = ""]) => first))) {
    const below = paths.filter(([first]) => first === key).map(([, ...rest]) => rest);
    members.set(key, levelOf(below, [...at, key], refuse));
  }
  const isDropped = (key: string) =>
    dropped.has(key) || (dropped.size >= MOST_NAMES && !members.has(key) && !(key in Object.prototype));
  const prototype = new Proxy(Object.prototype, {
    get: (target, key, object) => {
      if (key === CUT) return true;
      if (typeof key === "string" && isDropped(key) && !ASKED_OF_ALL.has(key)) throw refuse([...at, key]);
      return Reflect.get(target, key, object);
    },
  });
  return { members, dropped, prototype };
}

/** Trying again does not help: the operator has to be another one. */
function refusal(kind: string, path: readonly string[], kept: Kept): PermanentError {
  return new PermanentError(`${path.join(".")} of ${kind} is not kept: ${keptText(kept)} leaves it out`, {
    hint: `add ${JSON.stringify(path.join("."))} to keep, or ask the API server for it: get.live`,
  });
}
