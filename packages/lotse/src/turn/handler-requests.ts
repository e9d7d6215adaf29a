/** What handlers ask of the API server: through a client of their own, and through what the framework writes for them. */
import { type Client, type KindDescription, type KubeBody, pathOf } from "@lotse/client";
import type { Reporting } from "../report/index.ts";
import type { KindWork } from "./kind-work.ts";
import { requestsFor, type WritePlan } from "./write.ts";

/**
 * The client of a handler: in the namespace of its object, for as long as its attempt lasts, and its writes are known at
 * once. `guard` is asked before each of them leaves.
 */
export function handlerClient(
  { runtime, reporting, store }: KindWork,
  handler: string,
  body: KubeBody,
  signal: AbortSignal,
  writer?: unknown,
  guard?: (() => void) | undefined,
): Client {
  const { onHandlerRequest } = reporting;
  return runtime.client.with({
    ...(body.metadata?.namespace !== undefined && { namespace: body.metadata.namespace }),
    signal,
    ...(guard && { guard }),
    onWrite: (written, verb, description) => {
      if (verb === "apply") observeCreation(reporting, handler, written, description);
      store.handlerWrote(written, description, { verb, writer });
    },
    ...(onHandlerRequest && { onRequest: (request) => onHandlerRequest({ handler, ...request }) }),
  });
}

/** A handler reads a kind from the operator's own copy: what the framework needs for that is part of what it does. */
export function observeRead(
  onHandlerRequest: Reporting["onHandlerRequest"],
  handler: string,
  kind: KindDescription,
  namespace: string | undefined,
): void {
  if (!onHandlerRequest) return;
  const path = pathOf(kind, kind.namespaced ? { namespace } : {});
  for (const watch of [false, true]) onHandlerRequest({ handler, method: "GET", path, watch, websocket: false });
}

/** Where there is no object yet, an apply creates it, and the API server asks for that right besides. */
function observeCreation(
  { onHandlerRequest }: Pick<Reporting, "onHandlerRequest">,
  handler: string,
  body: KubeBody,
  kind: KindDescription,
): void {
  const path = pathOf(kind, { namespace: body.metadata?.namespace });
  onHandlerRequest?.({ handler, method: "POST", path, watch: false, websocket: false });
}

/** What a handler put into its patch is written by the framework on its behalf: it is part of what the handler does. */
export function observePatch(
  { reporting: { onHandlerRequest }, kind, target }: Pick<KindWork, "reporting" | "kind" | "target">,
  handler: string,
  body: KubeBody,
  wanted: Pick<WritePlan, "changes" | "transforms">,
): void {
  if (!onHandlerRequest) return;
  const { namespace, name = "" } = body.metadata ?? {};
  for (const { subresource } of requestsFor(body, { ...wanted, record: undefined, finalizer: "keep" }, target)) {
    const path = pathOf(kind, { namespace, name, subresource });
    onHandlerRequest({ handler, method: "PATCH", path, watch: false, websocket: false });
  }
}
