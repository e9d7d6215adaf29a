/** From one storage to another, object by object, without anything being handled again. */
import type { RecordStorage } from "../../declare/index.ts";

/**
 * Reads what `from` has remembered as long as `to` remembers nothing, and writes to `to`. What lies in the old place is
 * taken away by a later write, never by the one that moves the record: whenever the process dies, one of them has it.
 * The old finalizer counts as ours and is exchanged for the new one.
 *
 * @example
 * ```ts
 * new Operator({ name: "shop", persistence: migrateStorage(kopf(), annotationStorage("shop")) });
 * ```
 */
export function migrateStorage(from: RecordStorage, to: RecordStorage): RecordStorage {
  const former = [from.finalizer, ...(from.formerFinalizers ?? []), ...(to.formerFinalizers ?? [])];
  return {
    read(body, handlers, essence) {
      const reading = to.read(body, handlers, essence);
      if (reading.type !== "absent") return reading;
      const before = from.read(body, handlers, essence);
      return before.type === "foreign" ? reading : before;
    },
    write(body, record, handlers) {
      const written = to.write(body, record, handlers);
      const safe = record === undefined || to.read(body, handlers).type === "found";
      return safe ? from.write(written, undefined, handlers) : written;
    },
    clear: (essence) => to.clear(from.clear(essence)),
    finalizer: to.finalizer,
    formerFinalizers: former.filter((name) => name !== to.finalizer),
    place: to.place,
    ...(to.needsEssence && { needsEssence: true }),
  };
}
