import { ForbiddenError, type RequestListener } from "@lotse/client";
import type { RecordedRequest } from "lotse";
import type { MissingRight } from "lotse/rights";

/** What the operator was refused. */
export interface Refusal extends MissingRight {
  /** The handler that asked for it, or for which the framework did; undefined: the framework itself. */
  readonly handler: string | undefined;
}

/** Which right a request lacks. */
type FindRight = typeof import("lotse/rights").missingRight;

/**
 * What the operator asked for and may not do, each thing once. The framework looks whether definitions are there, and
 * whether a former version has registered anything, and does without where it may not; that is no refusal.
 */
export class Refusals {
  readonly #find: FindRight;
  readonly #onRefusal: (refusal: Refusal) => void;
  readonly #found = new Map<string, Refusal>();
  /** The handler that asked last for each thing. */
  readonly #askedBy = new Map<string, string>();
  /** Texts of those that were refused because a role would have given more than the operator has. */
  readonly #escalations = new Set<string>();

  constructor(find: FindRight, onRefusal: (refusal: Refusal) => void) {
    this.#find = find;
    this.#onRefusal = onRefusal;
  }

  /** `list secrets in default (handler open)` */
  get texts(): string[] {
    return [...this.#found.keys()];
  }

  /** Those for which a rule is missing: who may not give others more than he has, has the right rule. */
  get lacking(): string[] {
    return this.texts.filter((text) => !this.#escalations.has(text));
  }

  /** What `operator.start({ record })` hears: who asks for what. */
  readonly asked = (request: RecordedRequest): void => {
    const right = this.#find(request);
    if (right) this.#askedBy.set(keyOf(right), request.handler);
  };

  /** Hears of all requests of the operator. */
  readonly listener: RequestListener = (request) => ({
    ended: (end) => {
      if (!("error" in end) || !(end.error instanceof ForbiddenError)) return;
      const right = this.#find(request);
      if (right && !isNote(request)) this.#add(right, ESCALATION.test(end.error.message));
    },
  });

  #add(right: MissingRight, isEscalation: boolean): void {
    const handler = this.#askedBy.get(keyOf(right));
    if (handler === undefined && right.need.resource === "customresourcedefinitions") return;
    const text = `${right.text} (${handler === undefined ? "the framework" : `handler ${handler}`})`;
    if (this.#found.has(text)) return;
    if (isEscalation) this.#escalations.add(text);
    const refusal = { ...right, handler };
    this.#found.set(text, refusal);
    this.#onRefusal(refusal);
  }
}

const ESCALATION = /attempting to grant RBAC permissions not currently held/;

/** The Lease on which an operator notes what it has registered. */
function isNote({ method, path }: { readonly method: string; readonly path: string }): boolean {
  return method === "GET" && /\/leases\/[^/?]+-registered$/.test(path);
}

/** What is followed for a handler is asked for elsewhere than where the handler looks: the place does not count. */
function keyOf({ need: { group, resource, verbs } }: MissingRight): string {
  return JSON.stringify([group, resource, verbs]);
}
