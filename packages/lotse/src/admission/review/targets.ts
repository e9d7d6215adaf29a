/** Which handler is a request for? Handlers are found by their id in the path and the kind in the review. Pure. */
import type { KubeBody } from "@lotse/client";
import { kindKey } from "@lotse/client/meta";
import {
  type AdmissionHandler,
  type FilterCause,
  matchesFilters,
  type RequestedResource,
} from "../../declare/index.ts";
import type { JudgedKind } from "../configurations/index.ts";
import type { ReadReview } from "./reading.ts";

/** A handler, and the kind of the object that it is to judge. */
export interface Target extends Omit<JudgedKind, "handlers"> {
  readonly handler: AdmissionHandler;
}

/** The handler with this id for this kind; or in words why there is none. */
export function findTarget(
  kinds: readonly JudgedKind[],
  { type, id }: Pick<AdmissionHandler, "type" | "id">,
  { group, version, resource }: RequestedResource,
): Target | string {
  const known = kinds.flatMap(({ handlers, ...judged }) =>
    handlers
      .filter((handler) => handler.type === type && handler.id === id)
      .map((handler): Target => ({ handler, ...judged })),
  );
  if (known.length === 0) return `this operator has no ${type} handler ${JSON.stringify(id)}`;
  const of = known.filter(({ kind }) => kind.group === group && kind.plural === resource);
  // An older configuration may ask in a version that the handler did not ask for: it is this handler all the same.
  const target = of.find(({ kind }) => kind.version === version) ?? of[0];
  return target ?? `the ${type} handler ${JSON.stringify(id)} is not for ${kindKey({ group, plural: resource })}`;
}

/**
 * Whether a request is one that the handler asked for. The API server has applied what it can, but a configuration may be
 * older than the operator, or edited, and predicates are known here alone.
 */
export function concerns(
  handler: AdmissionHandler,
  { request, object, oldObject }: ReadReview,
  cause: () => Pick<FilterCause, "memo" | "param">,
): boolean {
  const { operations, subresource, namespaces, filters } = handler;
  if (!operations.includes(request.operation)) return false;
  if (subresource !== "*" && subresource !== request.subresource) return false;
  if (!inNamespaces(namespaces, request.namespace)) return false;
  const body = (object ?? oldObject) as KubeBody;
  return matchesFilters(filters, body, [body], filters.when && { old: oldObject, new: object, ...cause() });
}

function inNamespaces(namespaces: AdmissionHandler["namespaces"], namespace: string | undefined): boolean {
  // Labels of namespaces only the API server knows.
  if (!Array.isArray(namespaces) || namespace === undefined) return true;
  const names = namespaces as readonly string[];
  return names[0]?.startsWith("!") ? !names.includes(`!${namespace}`) : names.includes(namespace);
}
