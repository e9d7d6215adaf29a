/**
 * A CustomResourceDefinition against its successor. What is stored outlives a release: objects that were accepted once
 * have to be accepted, and kept whole, by the new definition; and by the old one again after a rollback.
 */
import type { CustomResourceDefinition } from "@lotse/client";
import { type ChangeEffect, compareSchemas, type SchemaChange } from "./compatibility-schema.ts";
import type { SchemaNode } from "./node.ts";

/** One change of a definition, and what it does to those who use it. */
export interface DefinitionChange extends Omit<SchemaChange, "effect"> {
  readonly effect: ChangeEffect | "broken";
  /** Undefined: all of them. */
  readonly version: string | undefined;
}

type Definition = CustomResourceDefinition["body"];
type Version = NonNullable<Definition["spec"]>["versions"][number];

/** See the module comment; both definitions have the same name. */
export function compareDefinitions(before: Definition, after: Definition): DefinitionChange[] {
  const found = identityChanges(before, after);
  const [old, now] = [before.spec?.versions ?? [], after.spec?.versions ?? []];
  const stored = new Set(before.status?.storedVersions ?? old.filter(({ storage }) => storage).map(({ name }) => name));
  for (const version of old) {
    const successor = now.find(({ name }) => name === version.name);
    if (!successor) found.push(goneVersion(version, stored.has(version.name), before.metadata?.name ?? "KIND"));
    else found.push(...versionChanges(version, successor));
  }
  for (const version of now) {
    if (old.some(({ name }) => name === version.name)) continue;
    found.push({
      effect: "rollback",
      version: version.name,
      path: "",
      what: version.storage ? "is new and what is stored from now on" : "is new; a rollback ends it",
      todo: version.storage ? "store it one release later: a rollback cannot read it" : undefined,
    });
    found.push(...unconverted(before, after, version));
  }
  return found;
}

function identityChanges({ spec: old }: Definition, { spec: now }: Definition): DefinitionChange[] {
  const found: DefinitionChange[] = [];
  const broken = (what: string, todo: string) =>
    found.push({ effect: "broken", version: undefined, path: "", what, todo });
  if (old?.scope !== now?.scope) {
    broken(`was ${old?.scope}, is ${now?.scope}; the server refuses that`, "keep the scope, or declare another kind");
  }
  if (old?.names.kind !== now?.names.kind) {
    broken(
      `was the kind ${old?.names.kind}, is ${now?.names.kind}`,
      "keep the kind, or give the new one another plural",
    );
  }
  if (old?.group !== now?.group) broken(`was in the group ${old?.group}, is in ${now?.group}`, "keep the group");
  return found;
}

function goneVersion({ name, served }: Version, stored: boolean, definition: string): DefinitionChange {
  if (stored) {
    return {
      effect: "broken",
      version: name,
      path: "",
      what: "is gone, and objects are stored in it; the server refuses that",
      todo: `keep it (served: false will do) until lotse migrate ${definition} has rewritten all objects`,
    };
  }
  return {
    effect: "altered",
    version: name,
    path: "",
    what: served ? "is gone, and clients may still ask for it" : "is gone",
    todo: "keep it for as long as somebody uses it, or an older release may have to come back",
  };
}

function versionChanges(before: Version, after: Version): DefinitionChange[] {
  const version = after.name;
  const found = schemaChanges(before, after, version);
  const altered = (what: string, todo: string) => found.push({ effect: "altered", version, path: "", what, todo });
  if (before.served && !after.served) altered("is not served any more", "keep it served as long as clients ask for it");
  if (before.subresources?.status && !after.subresources?.status) {
    altered("has no status subresource any more", "operators that patch the status get an error; keep it");
  }
  if (!before.subresources?.status && after.subresources?.status) {
    altered("has a status subresource now", "who wrote the status with the object has to write it by itself");
  }
  if (before.subresources?.scale && !after.subresources?.scale) {
    altered("cannot be scaled any more", "kubectl scale and autoscalers need the scale subresource; keep it");
  }
  return found;
}

function schemaChanges(before: Version, after: Version, version: string): DefinitionChange[] {
  const schemaOf = ({ schema }: Version) => schema?.openAPIV3Schema as SchemaNode | undefined;
  return compareSchemas(schemaOf(before), schemaOf(after)).map((change) => ({ ...change, version }));
}

/** Without a webhook objects only change their apiVersion, hence what is stored has to fit the new version as it is. */
function unconverted(before: Definition, after: Definition, version: Version): DefinitionChange[] {
  const stored = before.spec?.versions.find(({ storage }) => storage);
  if (!stored || after.spec?.conversion?.strategy === "Webhook") return [];
  return schemaChanges(stored, version, version.name).filter(({ effect }) => effect === "refused" || effect === "lost");
}
