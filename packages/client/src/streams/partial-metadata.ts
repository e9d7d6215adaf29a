/**
 * Metadata alone, as API servers send it on request: a tenth of what a Pod is, on the wire, in the parser and in memory.
 * A server that cannot do it answers with whole objects, or refuses; both are noticed here, and neither is a failure.
 */
import type { ObjectBody } from "../kinds/index.ts";
import { UnexpectedAnswerError } from "../transport/index.ts";

const PARTIAL = "v=v1;g=meta.k8s.io";

/** What a list asks for; plain JSON for servers that know nothing else. */
const LIST = `application/json;as=PartialObjectMetadataList;${PARTIAL},application/json`;
/** What a watch asks for. */
const WATCH = `application/json;as=PartialObjectMetadata;${PARTIAL},application/json`;

/** The headers that ask for metadata alone. */
export function metadataHeaders(request: "list" | "watch"): { readonly accept: string } {
  return { accept: request === "list" ? LIST : WATCH };
}

/** An answer is neither a list of metadata nor one of objects: taken for a list, it would say that nothing is there. */
export class UnexpectedForm extends Error {
  constructor() {
    super("the server was asked for metadata alone and answered with something else");
  }
}

/** Whether a server does not send objects in such a form, and may send them in another one. */
export function refusesForm(error: unknown): boolean {
  if (error instanceof UnexpectedForm || error instanceof UnexpectedAnswerError) return true;
  const { status } = (error ?? {}) as { readonly status?: unknown };
  return status === 406 || status === 415;
}

/** Metadata alone come under the name of their form, which is the same for all kinds. */
export function isPartial({ apiVersion, kind }: ObjectBody): boolean {
  return kind === "PartialObjectMetadata" && apiVersion?.startsWith("meta.k8s.io/") === true;
}
