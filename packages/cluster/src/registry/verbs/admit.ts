import type { AdmissionAttributes } from "../admission-hooks.ts";
import type { ApiObject } from "../object.ts";
import type { Backend, Requester, Target } from "./request.ts";

/** Something that is posted below an object and never stored: an Eviction, a Binding, the options of an exec. */
export interface Posted {
  readonly operation: "CREATE" | "CONNECT";
  readonly object: Record<string, unknown>;
  readonly dryRun: boolean;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Asks for admission of what a request posts, and gives what is left to do of it. Throws a StatusError to refuse. */
export async function admitPosted(
  backend: Backend,
  requester: Requester,
  target: Target,
  { operation, object, dryRun, options }: Posted,
): Promise<Record<string, unknown>> {
  const attributes: AdmissionAttributes = {
    operation,
    endpoint: target.endpoint,
    subresource: target.subresource,
    namespace: target.namespace,
    name: target.name ?? "",
    object: object as unknown as ApiObject,
    oldObject: undefined,
    dryRun,
    options,
    user: requester.user,
    warn: requester.warn,
    annotate: requester.annotate,
  };
  const admitted = (await backend.admission.mutate(attributes)) ?? attributes.object;
  await backend.admission.validate({ ...attributes, object: admitted });
  return admitted as unknown as Record<string, unknown>;
}
