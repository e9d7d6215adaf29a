import type { DeepReadonly } from "@lotse/client/meta";

export type { DeepReadonly };

/**
 * Freezes `value` all the way down and returns it. Stops at what is frozen already, so handing the same body to many
 * handlers costs once; the store hands out only bodies that no handler may change, hence no copy.
 */
export function deepFreeze<T>(value: T): DeepReadonly<T> {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value as DeepReadonly<T>;
}
