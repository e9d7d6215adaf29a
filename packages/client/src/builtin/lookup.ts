import { versionedKindKey } from "../meta/index.ts";
import type { AnyObject, KindClass } from "../objects/index.ts";
import * as access from "./access.ts";
import * as batch from "./batch.ts";
import * as cluster from "./cluster.ts";
import * as config from "./config.ts";
import * as generated from "./generated.ts";
import { Node } from "./node.ts";
import { Pod } from "./pod.ts";
import { Service } from "./service.ts";
import * as workloads from "./workloads.ts";

interface Wanted {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Every built-in class, in no order. */
export function builtinClasses(): KindClass<AnyObject>[] {
  const rooms = [access, batch, cluster, config, generated, workloads];
  const all = [Node, Pod, Service, ...rooms.flatMap((room) => Object.values<unknown>({ ...room }))];
  return all.filter((value): value is KindClass<AnyObject> => typeof value === "function" && "description" in value);
}

/** Looked through once, when first asked. */
const byKind = lazy(() => new Map(builtinClasses().map((Class) => [versionedKindKey(Class.description), Class])));

/** The class of a built-in kind. */
export function builtinClass(wanted: Wanted): KindClass<AnyObject> | undefined {
  return byKind().get(versionedKindKey(wanted));
}

function lazy<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
