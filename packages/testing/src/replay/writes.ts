/** The writes of a run beside those of the tape, and what differs. Pure. */
import { isObject } from "@lotse/client/meta";
import type { TapeAsk } from "lotse/tape";
import { withoutSubresource } from "./world.ts";

/** A write that did not happen as it did when the operator was recorded. */
export interface ReplayDifference {
  /** It is not there any more, is new, says something else, or comes before another one that it came after. */
  readonly type: "missing" | "additional" | "changed" | "reordered";
  /** When it was recorded; when it was played, for an additional one. ISO 8601. */
  readonly at: string;
  /** `PATCH /apis/example.com/v1/namespaces/default/shops/corner/status`. */
  readonly request: string;
  /** The handlers of the new code that had run for the object, or the one that asked; empty where none is known. */
  readonly handlers: readonly string[];
  readonly recorded?: unknown;
  readonly replayed?: unknown;
}

/** A write of the operator that is played. */
export interface ReplayedWrite {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly at: number;
  readonly handlers: readonly string[];
  /** The write on the tape that it was taken for. */
  readonly recorded: TapeAsk | undefined;
}

/** What others do with is no write of the operator's to its objects: who leads, and how the server reaches it. */
const NOT_COMPARED = /\/(leases|validatingwebhookconfigurations|mutatingwebhookconfigurations|[a-z]+reviews)(\/|$)/;

/** Whether a request changes objects, and is compared. */
export function isWrite({ method, path }: { readonly method: string; readonly path: string }): boolean {
  return method !== "GET" && method !== "HEAD" && !NOT_COMPARED.test(path);
}

/**
 * @param recorded writes of the tape with their times, in order
 * @param replayed in order
 * @param o `lenient`: of a tape of one object, whose times are not exact and whose other writes were left out
 */
export function differencesOf(
  recorded: readonly { readonly ask: TapeAsk; readonly at: number }[],
  replayed: readonly ReplayedWrite[],
  o: { readonly lenient: boolean },
): ReplayDifference[] {
  const found: { readonly at: number; readonly difference: ReplayDifference }[] = [];
  const add = (at: number, difference: Omit<ReplayDifference, "at">) =>
    found.push({ at, difference: { ...difference, at: new Date(at).toISOString() } });
  const times = new Map(recorded.map(({ ask, at }) => [ask.id, at]));
  const played = new Set(replayed.flatMap((write) => (write.recorded ? [write.recorded.id] : [])));
  for (const { ask, at } of recorded) {
    if (played.has(ask.id)) continue;
    add(at, { type: "missing", request: requestText(ask), handlers: [], recorded: ask.body });
  }
  const knownObjects = new Set(recorded.map(({ ask }) => withoutSubresource(ask.path)));
  const newest = new Map<string, number>();
  for (const { method, path, body, at, handlers, recorded: ask } of replayed) {
    const request = requestText({ method, path });
    const object = withoutSubresource(path);
    if (!ask) {
      if (!o.lenient || knownObjects.has(object)) add(at, { type: "additional", request, handlers, replayed: body });
      continue;
    }
    const when = times.get(ask.id) ?? at;
    if (!sameValue(ask.body, body, o.lenient)) {
      add(when, { type: "changed", request, handlers, recorded: ask.body, replayed: body });
    }
    const before = newest.get(object) ?? 0;
    if (ask.id < before) add(when, { type: "reordered", request, handlers });
    else newest.set(object, ask.id);
  }
  return found.sort((a, b) => a.at - b.at).map(({ difference }) => difference);
}

const requestText = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path}`;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Whether two bodies say the same; with `lenient` any two times do. */
function sameValue(one: unknown, other: unknown, lenient: boolean): boolean {
  if (one === other) return true;
  if (typeof one === "string" && typeof other === "string") return lenient && TIME.test(one) && TIME.test(other);
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((value, i) => sameValue(value, other[i], lenient))
    );
  }
  if (!isObject(one) || !isObject(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && sameValue(one[key], other[key], lenient))
  );
}
