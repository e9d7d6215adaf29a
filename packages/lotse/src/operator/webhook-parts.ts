/** What webhooks of an operator are made of, and what handlers of requests get of it. */
import type { KindDescription, KubeBody } from "@lotse/client";
import type { JudgedKind, ReviewParts } from "../admission/index.ts";
import type { Declarations, Indexes, Memo, NamespaceFilter, WebhookOptions } from "../declare/index.ts";
import { HandlerMeasures, type Reporting } from "../report/index.ts";
import type { HandlerWrite, Runtime } from "../runtime/index.ts";
import type { AccessSharing } from "./webhook-access.ts";
import type { WebhookMeasures } from "./webhook-measures.ts";

/** What `Webhooks` are made of. */
export interface WebhooksParts {
  readonly runtime: Runtime;
  readonly reporting: Reporting;
  readonly declarations: Declarations;
  readonly options: WebhookOptions;
  /** Whether the operator writes its definitions itself. */
  readonly installs: boolean;
  /** Where other operators of the process are asked, too. */
  readonly sharing?: AccessSharing | undefined;
  /** As the operator was told: only objects of these are its business. */
  readonly namespaces: readonly (string | RegExp)[] | undefined;
  readonly indexes: Indexes;
  /** Resolves when all indexes are filled; undefined when there are none. */
  readonly indexed: Promise<void> | undefined;
  readonly memoOf: (kind: KindDescription, body: KubeBody) => Memo | undefined;
  readonly newMemo: () => Memo;
  readonly handlerWrote: (body: KubeBody, kind: KindDescription, how: HandlerWrite) => void;
  /** Whether the operator was killed while this began: then nobody is to be answered. */
  readonly isKilled: () => boolean;
}

/** What the judging of requests goes by. */
export function reviewParts(
  { runtime, reporting, indexes, memoOf, newMemo, handlerWrote }: WebhooksParts,
  kinds: () => readonly JudgedKind[],
  filter: NamespaceFilter | undefined,
  measures: WebhookMeasures,
): ReviewParts {
  const { onHandlerRequest, traces, metrics, logger } = reporting;
  return {
    kinds,
    surroundings: { runtime, reporting: { traces, measures: new HandlerMeasures(metrics) } },
    logger,
    settings: runtime.settings,
    indexes,
    client: (handler, namespace, signal) =>
      runtime.client.with({
        ...(namespace !== undefined && { namespace }),
        signal,
        onWrite: (written, verb, kind) => handlerWrote(written, kind, { verb, writer: undefined }),
        ...(onHandlerRequest && { onRequest: (request) => onHandlerRequest({ handler, ...request }) }),
      }),
    memoOf,
    newMemo,
    serves: (namespace) => filter?.matches(namespace) !== false,
    onReviewed: (handler, outcome) => measures.reviewed(handler, outcome),
  };
}
