import type { ObjectBody } from "../kinds/index.ts";
import { errorMessage } from "../meta/index.ts";
import type { AnyObject, CreateManyOptions, KubeObject, ObjectClient } from "../objects/index.ts";

/** What other objects of the same batch may need to exist. */
const FIRST = new Set(["Namespace", "CustomResourceDefinition"]);

/** Writes what others need first, then the rest side by side; goes on after a failure and reports them all. */
export async function writeMany<T extends KubeObject<ObjectBody>>(
  done: "created" | "applied",
  objects: readonly T[],
  o: CreateManyOptions,
  write: (object: T) => Promise<T>,
  client: ObjectClient,
): Promise<T[]> {
  const failures: unknown[] = [];
  const run = async (batch: readonly T[], task: (object: T) => Promise<unknown>) => {
    const waiting = [...batch];
    const worker = async () => {
      for (let object = waiting.shift(); object; object = waiting.shift()) {
        await task(object).catch((error) => failures.push(error));
      }
    };
    await Promise.all(Array.from({ length: Math.max(1, o.concurrency ?? 8) }, worker));
  };
  const first = objects.filter((object) => FIRST.has(object.description.kind));
  const rest = objects.filter((object) => !FIRST.has(object.description.kind));
  await run(first, write);
  const groups = new Set<string | undefined>(rest.map(({ description }) => description.group));
  // A kind is served some moments after its definition was written.
  const needed = failures.length > 0 || o.dryRun ? [] : first.filter((object) => groups.has(groupDefinedBy(object)));
  await run(needed, (object) => client.wait(object as AnyObject, "condition=Established", { signal: o.signal }));
  await run(rest, write);
  if (failures.length > 0) {
    const reason = errorMessage(failures[0]);
    throw new AggregateError(failures, `${failures.length} of ${objects.length} objects were not ${done}: ${reason}`);
  }
  return [...objects];
}

function groupDefinedBy({ description, spec }: AnyObject): string | undefined {
  const { group } = (spec ?? {}) as { group?: string };
  return description.kind === "CustomResourceDefinition" ? group : undefined;
}
