import { formatPath, type Path } from "./field-set.ts";
import { identityKey, type ManagerIdentity } from "./managers.ts";

/** A field that an apply would change, and the manager who owns it. */
export interface Conflict {
  readonly manager: ManagerIdentity;
  readonly path: Path;
}

/** What the server answers to a conflicting apply. */
export interface ConflictReport {
  readonly message: string;
  readonly causes: readonly { readonly reason: string; readonly message: string; readonly field: string }[];
}

/** The server's words for conflicts, and one cause for each field. */
export function formatConflicts(conflicts: readonly Conflict[]): ConflictReport {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${nameOf(manager)}`,
    field: formatPath(path),
  }));
  const [only] = conflicts;
  if (conflicts.length === 1 && only) {
    const text = `conflict with ${nameOf(only.manager)}: ${formatPath(only.path)}`;
    return { message: `Apply failed with 1 conflict: ${text}`, causes };
  }
  const groups = new Map<string, Conflict[]>();
  for (const conflict of conflicts) {
    const key = identityKey(conflict.manager);
    groups.set(key, [...(groups.get(key) ?? []), conflict]);
  }
  const lines = [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, group]) => [
      `conflicts with ${nameOf((group[0] as Conflict).manager)}:`,
      ...group.map(({ path }) => `- ${formatPath(path)}`),
    ]);
  return { message: `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`, causes };
}

function nameOf({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  const name = JSON.stringify(manager) + (subresource ? ` with subresource ${JSON.stringify(subresource)}` : "");
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
