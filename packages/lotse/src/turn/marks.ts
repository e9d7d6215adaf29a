/** Whose marks an object carries: records and finalizers have the name of their operator in them. Pure. */
import type { KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import { RECORD_FIELD } from "../schema/index.ts";

const ANNOTATION = /^([a-z0-9-]+)\.lotse\.dev\/(?:state|children)(?:-|$)/;
const FINALIZER = /^([a-z0-9-]+)\.lotse\.dev\/finalizer$/;

/** The names of the operators that have left something on the object. */
export function operatorsOn({ metadata, status }: KubeBody): readonly string[] {
  const names = new Set<string>();
  const add = (keys: readonly string[], pattern: RegExp) => {
    for (const key of keys) {
      const name = pattern.exec(key)?.[1];
      if (name !== undefined) names.add(name);
    }
  };
  add(Object.keys(metadata?.annotations ?? {}), ANNOTATION);
  add(metadata?.finalizers ?? [], FINALIZER);
  const records = isObject(status) ? status[RECORD_FIELD] : undefined;
  // What conversions keep there has a name that no operator can have.
  if (isObject(records)) for (const name of Object.keys(records)) if (!name.startsWith("_")) names.add(name);
  return [...names];
}
