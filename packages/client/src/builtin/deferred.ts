import type { LogLines } from "../pods/index.ts";

/** Lines whose source is opened when the program reads: what reads logs is loaded then, too. */
export function deferredLines<T>(source: () => Promise<LogLines<T>>): LogLines<T> {
  return {
    async *[Symbol.asyncIterator]() {
      yield* await source();
    },
    text: async () => (await source()).text(),
    toArray: async () => (await source()).toArray(),
  };
}
