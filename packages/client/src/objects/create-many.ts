import type { ObjectBody } from "../kinds/index.ts";
import type { KubeObject } from "./object.ts";
import type { CreateManyOptions } from "./options.ts";

/** What other objects of the same batch may need to exist. */
const FIRST = new Set(["Namespace", "CustomResourceDefinition"]);

/** Creates what others need first, then the rest side by side; goes on after a failure and reports them all. */
export async function createMany<T extends KubeObject<ObjectBody>>(
  objects: readonly T[],
  o: CreateManyOptions,
  create: (object: T) => Promise<T>,
): Promise<T[]> {
  const failures: unknown[] = [];
  const run = async (batch: readonly T[]) => {
    const waiting = [...batch];
    const worker = async () => {
      for (let object = waiting.shift(); object; object = waiting.shift()) {
        await create(object).catch((error) => failures.push(error));
      }
    };
    await Promise.all(Array.from({ length: Math.max(1, o.concurrency ?? 8) }, worker));
  };
  await run(objects.filter((object) => FIRST.has(object.description.kind)));
  await run(objects.filter((object) => !FIRST.has(object.description.kind)));
  if (failures.length > 0) {
    const first = failures[0] instanceof Error ? failures[0].message : String(failures[0]);
    throw new AggregateError(failures, `${failures.length} of ${objects.length} objects were not created: ${first}`);
  }
  return [...objects];
}
