import type { Admission, AdmissionAttributes, ApiObject } from "../registry/index.ts";

type MaybePromise<T> = T | Promise<T>;

/**
 * One pass of a request through all that may change its object. When something asks for it there is a second one, so
 * that those who came early can look at what the later ones did; never a third.
 */
export interface MutationRound {
  /** Whether everybody has had this object before. */
  readonly second: boolean;
  /** What a plugin remembers of this request, from the first round to the second. */
  recall<T>(key: object, make: () => T): T;
  /** Asks for a second round. */
  again(): void;
}

/** One thing that looks at writes before they happen. Both halves are optional; the first may change the object. */
export interface AdmissionPlugin {
  readonly mutate?: (attributes: AdmissionAttributes, round: MutationRound) => MaybePromise<ApiObject | undefined>;
  readonly validate?: (attributes: AdmissionAttributes) => MaybePromise<void>;
}

/** Runs plugins in order: all that may change the object, and later all that only look at it. */
export function createAdmission(plugins: readonly AdmissionPlugin[]): Admission {
  return {
    async mutate(attributes) {
      const round = new Round();
      const object = await mutateAll(plugins, attributes, round);
      if (!round.wantsAnother) return object;
      round.second = true;
      return mutateAll(plugins, { ...attributes, object }, round);
    },
    async validate(attributes) {
      for (const plugin of plugins) {
        const pending = plugin.validate?.(attributes);
        if (pending !== undefined) await pending;
      }
    },
  };
}

async function mutateAll(
  plugins: readonly AdmissionPlugin[],
  attributes: AdmissionAttributes,
  round: MutationRound,
): Promise<ApiObject | undefined> {
  let current = attributes;
  for (const plugin of plugins) {
    if (!plugin.mutate) continue;
    const pending = plugin.mutate(current, round);
    // Most plugins have nothing to do with most requests, and those should not wait a turn for each of them.
    const object = (pending instanceof Promise ? await pending : pending) ?? current.object;
    if (object !== current.object) current = { ...current, object };
  }
  return current.object;
}

class Round implements MutationRound {
  second = false;
  wantsAnother = false;
  #memory: Map<object, unknown> | undefined;

  recall<T>(key: object, make: () => T): T {
    this.#memory ??= new Map();
    if (!this.#memory.has(key)) this.#memory.set(key, make());
    return this.#memory.get(key) as T;
  }

  again(): void {
    this.wantsAnother = true;
  }
}

/**
 * A plugin that is loaded when the first request comes that it has something to do with: large ones cost nothing in a
 * cluster that does not use them. `concerns` must be quick: it is asked about every write.
 */
export function lazily(
  concerns: (attributes: AdmissionAttributes) => boolean,
  load: () => Promise<AdmissionPlugin>,
): AdmissionPlugin {
  let loading: Promise<AdmissionPlugin> | undefined;
  const plugin = (): Promise<AdmissionPlugin> => {
    loading ??= load();
    return loading;
  };
  return {
    mutate(attributes, round) {
      if (!concerns(attributes)) return attributes.object;
      return plugin().then((loaded) => loaded.mutate?.(attributes, round) ?? attributes.object);
    },
    validate(attributes) {
      if (!concerns(attributes)) return undefined;
      return plugin().then((loaded) => loaded.validate?.(attributes));
    },
  };
}
