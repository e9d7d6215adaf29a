/**
 * An operator that was renamed applied its children under another name, and that name owns their fields: what is no longer
 * wanted would stay. So before the first apply under the new name the ownership is rewritten, as the server allows to.
 */
import type { KindDescription, KubeBody } from "@lotse/client";
import type { Keeping } from "./keeping.ts";

type ManagedFields = NonNullable<NonNullable<KubeBody["metadata"]>["managedFields"]>;

/** See the module comment. Does nothing where the operator has had no other name. */
export async function takeOver(keeping: Keeping, kind: KindDescription, known: KubeBody): Promise<void> {
  const { names, context } = keeping;
  const [operator, ...former] = names;
  if (former.length === 0) return;
  const { name = "", namespace } = known.metadata ?? {};
  const live = (await context.get.live(kind, name, { namespace }))?.body;
  const { managedFields = [], resourceVersion } = live?.metadata ?? {};
  const renamed = renameManagers(managedFields, operator, former);
  if (!renamed) return;
  const changes = [
    { op: "test", path: "/metadata/resourceVersion", value: resourceVersion },
    { op: "replace", path: "/metadata/managedFields", value: renamed },
  ] as const;
  await context.client.patch(kind, name, changes, { type: "json", ...(namespace !== undefined && { namespace }) });
}

/** The entries with the former names' applies under the new one; undefined when there is nothing to rename. Pure. */
export function renameManagers(
  entries: ManagedFields,
  operator: string,
  former: readonly string[],
): ManagedFields | undefined {
  const isApply = ({ operation }: ManagedFields[number]) => operation === "Apply";
  const isFormer = (entry: ManagedFields[number]) => isApply(entry) && former.includes(entry.manager ?? "");
  if (!entries.some(isFormer)) return undefined;
  // Who has applied under the new name already owns what it wants; the old name just lets go of the rest.
  if (entries.some((entry) => isApply(entry) && entry.manager === operator)) {
    return entries.filter((entry) => !isFormer(entry));
  }
  const [first] = entries.filter(isFormer);
  return entries.flatMap((entry) => {
    if (!isFormer(entry)) return [entry];
    return entry === first ? [{ ...entry, manager: operator }] : [];
  });
}
