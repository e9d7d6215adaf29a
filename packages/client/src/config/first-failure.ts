/**
 * What all of them give. When several fail, the first in their order is told, not the one that failed earliest: the
 * same mistake has the same message on every machine.
 */
export async function allOrFirstFailure<T>(parts: Iterable<T | PromiseLike<T>>): Promise<T[]> {
  return (await Promise.allSettled(parts)).map((part) => {
    if (part.status === "rejected") throw part.reason;
    return part.value;
  });
}
