/**
 * Kubernetes conditions: what is true of an object, why, and since when. Pure: the time comes in, the new list goes out.
 */
import { byteLength, ConfigError, deepEqual, qualifiedNameErrors } from "@lotse/client/meta";

/** The three values of a condition. */
export type ConditionStatus = "True" | "False" | "Unknown";

/** One condition as it stands in `status.conditions`. */
export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  /** One word in CamelCase, for programs. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
  /** Since when the status is what it is: RFC 3339, whole seconds. */
  readonly lastTransitionTime: string;
  /** The generation of the object that the condition speaks of. */
  readonly observedGeneration?: number;
}

/** What to say of one condition. */
export interface ConditionInput {
  /** `Ready`, or with a prefix of your own: `example.com/BackedUp`. */
  readonly type: string;
  readonly status: boolean | ConditionStatus;
  readonly reason: string;
  /** Longer than 32 KiB: its end is cut off. */
  readonly message?: string | undefined;
  /** Default: the generation that the whole change is about. */
  readonly observedGeneration?: number | undefined;
}

/** Changes to conditions, as data: what to set, in order, and which types to take away. No type is in both. */
export interface ConditionChanges {
  readonly set: readonly ConditionInput[];
  readonly remove: readonly string[];
}

/** When conditions change, and for which state of the object. */
export interface ConditionMoment {
  readonly now: Date;
  /** The generation of the object that was looked at. */
  readonly observedGeneration?: number | undefined;
}

const REASON = /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_LENGTH = 1024;
const MESSAGE_BYTES = 32 * 1024;
const GAP = "...";
const STATUSES: readonly unknown[] = ["True", "False", "Unknown"];

/**
 * The list after the changes. Order is kept and new conditions come last; `lastTransitionTime` moves only when the status
 * does; what no handler speaks of stays as it is, fields of others included. Mutates nothing.
 *
 * @example
 * ```ts
 * setConditions(status.conditions, [{ type: "Ready", status: true, reason: "AllUp" }], {
 *   now: new Date(),
 *   observedGeneration: metadata.generation,
 *   remove: ["Progressing"],
 * });
 * ```
 */
export function setConditions(
  existing: readonly Condition[] | undefined,
  wanted: readonly ConditionInput[],
  o: ConditionMoment & { readonly remove?: readonly string[] | undefined },
): Condition[] {
  const removed = new Set(o.remove);
  const inputs = new Map<string, ConditionInput>();
  for (const input of wanted) {
    if (removed.has(input.type)) {
      throw new ConfigError(`the condition "${input.type}" is to be set and to be removed`, {
        hint: "name it in one of the two",
      });
    }
    inputs.set(input.type, input);
  }
  const result: Condition[] = [];
  const done = new Set<string>();
  for (const before of existing ?? []) {
    if (removed.has(before.type)) continue;
    const input = inputs.get(before.type);
    if (input === undefined) result.push(before);
    // A list with one type twice is broken; what we set is there once.
    else if (!done.has(before.type)) result.push(conditionOf(input, before, o));
    done.add(before.type);
  }
  for (const input of inputs.values()) {
    if (!done.has(input.type)) result.push(conditionOf(input, undefined, o));
  }
  return result;
}

/**
 * The part of a merge patch of the status that makes these changes, or undefined when they change nothing. A merge patch
 * replaces a list as a whole, so compute it from the newest state and send it with that state's resourceVersion:
 * otherwise it takes away what others said meanwhile.
 *
 * @example
 * ```ts
 * const status = conditionsPatch(body.status?.conditions, draft.changes(), { now, observedGeneration });
 * if (status) await client.patch(kind, name, { metadata: { resourceVersion }, status }, { subresource: "status" });
 * ```
 */
export function conditionsPatch(
  existing: readonly Condition[] | undefined,
  changes: ConditionChanges,
  o: ConditionMoment,
): { readonly conditions: Condition[] } | undefined {
  const conditions = setConditions(existing, changes.set, { ...o, remove: changes.remove });
  return deepEqual(conditions, existing ?? []) ? undefined : { conditions };
}

/** One set of changes that does what `first` and then `second` do. */
export function combineConditionChanges(first: ConditionChanges, second: ConditionChanges): ConditionChanges {
  const draft = new ConditionsDraft(undefined);
  for (const { set, remove } of [first, second]) {
    for (const type of remove) draft.remove(type);
    for (const input of set) draft.put(input);
  }
  return draft.changes();
}

function conditionOf(input: ConditionInput, before: Condition | undefined, o: ConditionMoment): Condition {
  checkCondition(input);
  const view = viewOf(input, before, o.observedGeneration);
  return { ...view, lastTransitionTime: view.lastTransitionTime || timeOf(o.now) };
}

/** The condition after `input`; without a transition time when its status is new. */
function viewOf(input: ConditionInput, before: Condition | undefined, generation: number | undefined): ConditionView {
  const status = statusOf(input.status);
  const observedGeneration = input.observedGeneration ?? generation;
  // Other writers may keep more in a condition than the standard has.
  const { lastTransitionTime, ...others } = before ?? ({} as Partial<Condition>);
  return {
    ...others,
    type: input.type,
    status,
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(lastTransitionTime && before?.status === status && { lastTransitionTime }),
    reason: input.reason,
    message: cutMessage(input.message ?? ""),
  };
}

/** Throws when the API server would refuse the condition. */
export function checkCondition({ type, status, reason, observedGeneration }: ConditionInput): void {
  const wrongType = qualifiedNameErrors(type)[0];
  if (wrongType !== undefined) {
    throw new ConfigError(`"${type}" cannot be the type of a condition: ${wrongType}`, {
      hint: 'write a word in CamelCase, such as "Ready", or with a prefix: "example.com/BackedUp"',
    });
  }
  if (typeof status !== "boolean" && !STATUSES.includes(status)) {
    throw new ConfigError(`the status of the condition "${type}" is ${JSON.stringify(status)}`, {
      hint: 'it is true, false, "True", "False" or "Unknown"',
    });
  }
  if (typeof reason !== "string" || !REASON.test(reason) || reason.length > REASON_LENGTH) {
    throw new ConfigError(`${JSON.stringify(reason)} cannot be the reason of the condition "${type}"`, {
      hint: 'write a word in CamelCase, such as "AllReplicasUp": letters, digits and "_,:", a letter first; sentences go into the message',
    });
  }
  if (observedGeneration !== undefined && !(Number.isInteger(observedGeneration) && observedGeneration >= 0)) {
    throw new ConfigError(`the observedGeneration of the condition "${type}" is ${observedGeneration}`, {
      hint: "take it from metadata.generation",
    });
  }
}

function statusOf(status: boolean | ConditionStatus): ConditionStatus {
  if (typeof status !== "boolean") return status;
  return status ? "True" : "False";
}

function timeOf(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** A long message is no reason to fail: most are made from errors that cannot be foreseen. */
function cutMessage(message: string): string {
  if (byteLength(message) <= MESSAGE_BYTES) return message;
  let bytes = 0;
  let end = 0;
  for (const character of message) {
    bytes += byteLength(character);
    if (bytes > MESSAGE_BYTES - GAP.length) break;
    end += character.length;
  }
  return message.slice(0, end) + GAP;
}

/** A condition as a handler sees it: one that it has just set has no transition time yet. */
export type ConditionView = Omit<Condition, "lastTransitionTime"> & { readonly lastTransitionTime?: string };

/**
 * What a handler says about conditions during an attempt: `conditions` of the handler's context. Nothing is sent before
 * the attempt is done; wrong types and reasons fail in the call that brings them.
 *
 * @example
 * ```ts
 * conditions.set("Ready", true, "AllReplicasUp", "3 of 3 replicas are up");
 * conditions.remove("Progressing");
 * if (conditions.get("Ready")?.status === "True") logger.info("ready");
 * ```
 */
export class ConditionsDraft<Type extends string = string> {
  readonly #existing: readonly Condition[];
  /** In the order of the last word about each type; undefined removes it. */
  readonly #changes = new Map<string, ConditionInput | undefined>();

  /** `existing`: the conditions that the object has now. */
  constructor(existing: readonly Condition[] | undefined) {
    this.#existing = existing ?? [];
  }

  /** Says what is true of the object now, and why. */
  set(type: Type, status: boolean | ConditionStatus, reason: string, message?: string): void {
    this.put({ type, status, reason, message });
  }

  /** The same as `set`, in one value, which may also name the generation. */
  put(input: ConditionInput & { readonly type: Type }): void {
    checkCondition(input);
    this.#changes.delete(input.type);
    this.#changes.set(input.type, { ...input });
  }

  /** Takes the condition away; nothing happens where there is none. */
  remove(type: Type): void {
    this.#changes.delete(type);
    this.#changes.set(type, undefined);
  }

  /** The condition with what this attempt has said about it. */
  get(type: Type): ConditionView | undefined {
    const before = this.#existing.find((condition) => condition.type === type);
    if (!this.#changes.has(type)) return before;
    const input = this.#changes.get(type);
    return input && viewOf(input, before, undefined);
  }

  /** Whether the attempt has said something under this type. */
  says(type: Type): boolean {
    return this.#changes.has(type);
  }

  /** Whether the attempt has said anything. */
  get touched(): boolean {
    return this.#changes.size > 0;
  }

  /** The same as {@link changes}, and nothing has been said afterwards. */
  take(): ConditionChanges {
    const taken = this.changes();
    this.#changes.clear();
    return taken;
  }

  /** What the attempt has said, as data that can be kept and applied to a newer state. */
  changes(): ConditionChanges {
    const set: ConditionInput[] = [];
    const remove: string[] = [];
    for (const [type, input] of this.#changes) {
      if (input) set.push(input);
      else remove.push(type);
    }
    return { set, remove };
  }

  /** The final list: `existing` (default: the conditions that the draft began with) after the changes. */
  apply(o: ConditionMoment & { readonly existing?: readonly Condition[] | undefined }): Condition[] {
    const { set, remove } = this.changes();
    return setConditions(o.existing ?? this.#existing, set, { ...o, remove });
  }
}

/** The condition of this type in a list. */
export function conditionOfType(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((one) => one.type === type);
}

/** The conditions in the status of `body`. */
export function conditionsOf(body: { readonly status?: unknown }): Condition[] | undefined {
  const conditions = (body.status as { conditions?: unknown } | undefined)?.conditions;
  return Array.isArray(conditions) ? (conditions as Condition[]) : undefined;
}
