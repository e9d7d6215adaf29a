import { qualifiedNameErrors } from "@lotse/client/meta";
import type { ApiObject } from "../../object.ts";

const STANDARD: ReadonlySet<string> = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

/** Finalizers that others could have called so, too; only those that a write adds. */
export function finalizerWarnings({ metadata }: ApiObject, old?: ApiObject): string[] {
  const before = new Set(old?.metadata.finalizers);
  const added = [...new Set(metadata.finalizers)].filter((name) => !before.has(name)).sort();
  return added.flatMap((name) => {
    const here = `metadata.finalizers: ${JSON.stringify(name)}`;
    const warnings = qualifiedNameErrors(name).map((message) => `${here}: ${message}`);
    if (name.includes("/") || STANDARD.has(name)) return warnings;
    const path = name.includes(".") ? " including a path (/)" : "";
    return [
      ...warnings,
      `${here}: prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
    ];
  });
}
