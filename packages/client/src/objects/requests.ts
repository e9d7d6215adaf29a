import { apiVersionOf, type KindDescription, type KubeBody, type ObjectBody } from "../kinds/index.ts";
import { ConfigError } from "../meta/index.ts";
import { parseServerVersion, type Query, type RequestOptions } from "../transport/index.ts";
import type { BodyPage } from "./list.ts";
import type { DeleteOptions, PatchOptions, PatchType, WriteOptions } from "./options.ts";

/** The server's version, and a question that scripts ask. */
export interface ServerVersion {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly gitCommit?: string;
  readonly buildDate?: string;
  readonly goVersion?: string;
  readonly platform: string;
  /** Whether it is this version or a newer one; additions of vendors (`31+`) do not count. */
  atLeast(major: number, minor: number): boolean;
}

/** Reads what `/version` answers. */
export function readServerVersion(answer: KubeBody): ServerVersion {
  const said = answer as unknown as Omit<ServerVersion, "atLeast">;
  const gitVersion = said.gitVersion ?? `${said.major ?? "?"}.${said.minor ?? "?"}`;
  return { ...said, gitVersion, atLeast: parseServerVersion(gitVersion).atLeast };
}

/** The query of a write. */
export function readWriteQuery(o: WriteOptions, fieldManager: string): Query {
  return {
    fieldManager: o.fieldManager ?? fieldManager,
    dryRun: o.dryRun ? "All" : undefined,
    fieldValidation: o.fieldValidation,
  };
}

/** How the server shall read a patch: operations are an array, and nothing else is. */
export function patchTypeOf(patch: object, o: PatchOptions): PatchType {
  const type = o.type ?? (Array.isArray(patch) ? "json" : "merge");
  if ((type === "json") !== Array.isArray(patch)) {
    throw new ConfigError(
      `a patch of type "${type}" ${type === "json" ? "is an array of operations" : "is an object"}`,
      {
        hint: 'leave "type" out: an array is a JSON patch, an object a merge patch',
      },
    );
  }
  return type;
}

/** The body of a DELETE. A grace period of 0 is a value, not an absence. */
export function readDeleteOptions(o: DeleteOptions): KubeBody | undefined {
  if (o.force && o.gracePeriodSeconds !== undefined && o.gracePeriodSeconds !== 0) {
    throw new ConfigError(`"force" means a grace period of 0, not ${o.gracePeriodSeconds}`, {
      hint: "pass one of force and gracePeriodSeconds",
    });
  }
  const body: KubeBody = { apiVersion: "v1", kind: "DeleteOptions" };
  const gracePeriodSeconds = o.force ? 0 : o.gracePeriodSeconds;
  if (gracePeriodSeconds !== undefined) body.gracePeriodSeconds = gracePeriodSeconds;
  if (o.propagationPolicy !== undefined) body.propagationPolicy = o.propagationPolicy;
  if (o.preconditions !== undefined) body.preconditions = o.preconditions;
  if (o.dryRun) body.dryRun = ["All"];
  return Object.keys(body).length > 2 ? body : undefined;
}

/** The body as a new object: the server refuses a version at creation, and gives the uid itself. */
export function forCreation(body: ObjectBody): ObjectBody {
  const { resourceVersion: _, uid: __, managedFields: ___, ...metadata } = body.metadata ?? {};
  return { ...body, metadata };
}

/** The part of a verb's options that is about the request. */
export function requestPart({ signal, timeout, retry }: RequestOptions): RequestOptions {
  return { signal, timeout, retry };
}

/** One page of a list, its items completed with their kind. */
export function readPage(answer: KubeBody, description: KindDescription): BodyPage<ObjectBody> {
  const { continue: next, remainingItemCount, resourceVersion = "" } = (answer.metadata ?? {}) as Record<string, never>;
  const items = (answer.items ?? []) as ObjectBody[];
  for (const item of items) {
    item.apiVersion ??= apiVersionOf(description);
    item.kind ??= description.kind;
  }
  return { items, resourceVersion, remaining: remainingItemCount, next: next || undefined };
}
