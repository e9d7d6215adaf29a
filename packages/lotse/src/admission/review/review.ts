/**
 * One request, from the AdmissionReview to its answer: the handler is found by the path, what the API server could not
 * decide is decided here, the handler is executed as all handlers are, and what it says becomes the answer. Nothing that a
 * handler does can leave a request without one.
 */
import { apiVersionOf, type Client, type KubeBody } from "@lotse/client";
import { formatDuration, type JsonPatchOperation } from "@lotse/client/meta";
import {
  Aborted,
  type AdmissionHandler,
  type AdmissionRequest,
  type FixedSettings,
  type Indexes,
  type Memo,
} from "../../declare/index.ts";
import type { Logger } from "../../report/index.ts";
import { errorFields, execute, named, PatchDraft, Stop, type Surroundings } from "../../turn/index.ts";
import type { JudgedKind } from "../configurations/index.ts";
import { type Refusal, refusal, refusalOf, reviewAnswer, type Verdict } from "./answer.ts";
import { admissionContext } from "./context.ts";
import { forbiddenChange, jsonPatchOf, patchedBody } from "./patch.ts";
import { type ReadReview, readReview } from "./reading.ts";
import { concerns, findTarget, type Target } from "./targets.ts";

/** What came of a review, in one word: for metrics. */
export type ReviewOutcome = "allowed" | "changed" | "refused" | "failed" | "passed over";

/** What reviews are answered with. */
export interface ReviewParts {
  /** The kinds that are judged now. */
  readonly kinds: () => readonly JudgedKind[];
  readonly surroundings: Surroundings;
  readonly logger: Logger;
  readonly settings: FixedSettings;
  readonly indexes: Indexes;
  /** The client of a handler, for as long as `signal` lasts. */
  readonly client: (handler: string, namespace: string | undefined, signal: AbortSignal) => Client;
  /** The notes of an object that the operator knows. */
  readonly memoOf: (kind: Target["kind"], body: KubeBody) => Memo | undefined;
  /** Notes that are thrown away. */
  readonly newMemo: () => Memo;
  /** Whether objects of the namespace are this operator's business. */
  readonly serves: (namespace: string) => boolean;
  readonly onReviewed?: ((handler: AdmissionHandler, outcome: ReviewOutcome) => void) | undefined;
}

/** A call of the API server, as the webhook server has received it. */
export type ReviewCall = Pick<AdmissionRequest, "headers" | "source" | "peer"> & {
  readonly body: unknown;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
};

/** The HTTP answer. */
export interface ReviewAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** How long a handler may take to end after its signal, before it is abandoned: the API server has gone by then. */
const GRACE_MS = 1_000;

/** Answers one call for the handler that its path names. Never rejects. */
export async function answerReview(
  parts: ReviewParts,
  id: Pick<AdmissionHandler, "type" | "id">,
  call: ReviewCall,
): Promise<ReviewAnswer> {
  const review = readReview(call.body);
  if ("problem" in review) return failure(400, review.problem);
  const target = findTarget(parts.kinds(), id, review.request.resource);
  if (typeof target === "string") return failure(404, target);
  const verdict = await judge(parts, target, review, call);
  return { status: 200, body: reviewAnswer(review.request.uid, verdict) };
}

function failure(code: number, message: string): ReviewAnswer {
  const reason = code === 404 ? "NotFound" : "BadRequest";
  return {
    status: code,
    body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code },
  };
}

async function judge(parts: ReviewParts, target: Target, review: ReadReview, call: ReviewCall): Promise<Verdict> {
  const judging = new Judging(parts, target, review, call);
  const { verdict, outcome } = await judging.run();
  parts.onReviewed?.(target.handler, outcome);
  return verdict;
}

/** One request before one handler. */
class Judging {
  readonly #parts: ReviewParts;
  readonly #target: Target;
  readonly #review: ReadReview;
  readonly #call: ReviewCall;
  readonly #body: KubeBody;
  readonly #logger: Logger;
  #memo: Memo | undefined;
  /** Undefined until the handler is called. */
  #runId: string | undefined;

  constructor(parts: ReviewParts, target: Target, review: ReadReview, call: ReviewCall) {
    this.#parts = parts;
    this.#target = target;
    this.#review = review;
    this.#call = call;
    this.#body = (review.object ?? review.oldObject) as KubeBody;
    this.#logger = parts.logger.about(this.#reference()).with({ kind: target.kind.kind });
  }

  async run(): Promise<{ readonly verdict: Verdict; readonly outcome: ReviewOutcome }> {
    const { handler } = this.#target;
    try {
      if (!this.#concerns()) return { verdict: {}, outcome: "passed over" };
    } catch (error) {
      return this.#broken("a filter of the handler failed, the request is refused", error, []);
    }
    const warnings: string[] = [];
    const draft = new PatchDraft();
    const begun = performance.now();
    const { error, abandoned, timedOut } = await this.#execute(draft, warnings);
    if (abandoned || timedOut) {
      const message = `the handler ${handler.id} did not answer in time`;
      this.#logger.warn("handler did not answer in time, the request is refused", {
        ...this.#fields(),
        after: formatDuration(performance.now() - begun),
        hint: "end the work when context.signal aborts, or give it more time with { timeout }",
      });
      return { verdict: { refusal: refusal(message, 504), warnings }, outcome: "failed" };
    }
    if (error !== undefined) return this.#failed(error, warnings);
    return this.#patched(draft, warnings);
  }

  /** Whether the handler is for this request. */
  #concerns(): boolean {
    const { handler } = this.#target;
    const { namespace } = this.#review.request;
    if (namespace !== undefined && !this.#parts.serves(namespace)) return false;
    return concerns(handler, this.#review, () => ({ memo: this.#memoOf(), param: handler.param }));
  }

  async #execute(
    draft: PatchDraft,
    warnings: string[],
  ): Promise<{ readonly error: unknown; readonly abandoned: boolean; readonly timedOut: boolean }> {
    const { handler } = this.#target;
    const { signal } = this.#call;
    const parent = new Stop();
    const onAbort = () => parent.stop(new Aborted("timeout", "the API server does not wait any longer"));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const { result } = await execute(this.#parts.surroundings, {
        handler,
        logger: this.#logger,
        reason: undefined,
        retry: 0,
        object: () => this.#reference(),
        waits: undefined,
        parent,
        timeoutMs: undefined,
        graceMs: GRACE_MS,
        errors: "permanent",
        call: (stop, runId) => {
          this.#runId = runId;
          return handler.fn(this.#context(draft, warnings, stop, runId));
        },
      });
      const { error, abandoned, outcome } = result;
      return { error, abandoned, timedOut: parent.reason !== undefined && outcome.type !== "done" };
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #context(draft: PatchDraft, warnings: string[], stop: Stop, runId: string) {
    const { handler, kind, kindClass } = this.#target;
    const { request, object, oldObject } = this.#review;
    const { headers, source, peer } = this.#call;
    return admissionContext({
      handler,
      kind,
      kindClass,
      request: { ...request, headers, source, peer },
      body: this.#body,
      old: oldObject,
      new: object,
      warnings,
      draft,
      memo: () => this.#memoOf(),
      client: () => this.#parts.client(handler.id, this.#namespace, stop.signal),
      logger: this.#logger,
      runId,
      signal: () => stop.signal,
      settings: this.#parts.settings,
      indexes: this.#parts.indexes,
    });
  }

  /** What a handler throws on purpose is told to the client; anything else is for the log alone. */
  #failed(error: unknown, warnings: readonly string[]) {
    const told = refusalOf(error);
    if (!told) return this.#broken("handler failed, the request is refused", error, warnings);
    this.#logger.info("request refused", { ...this.#fields(), code: told.code, why: told.message });
    return { verdict: { refusal: told, warnings }, outcome: "refused" as const };
  }

  #broken(sentence: string, error: unknown, warnings: readonly string[]) {
    this.#logger.warn(sentence, { ...this.#fields(), ...errorFields(error, true) });
    const message = `the handler ${this.#target.handler.id} failed, the log of the operator says why`;
    return { verdict: { refusal: refusal(message, 500), warnings }, outcome: "failed" as const };
  }

  #patched(draft: PatchDraft, warnings: readonly string[]): { verdict: Verdict; outcome: ReviewOutcome } {
    const { handler } = this.#target;
    if (handler.type === "validate") return { verdict: { warnings }, outcome: "allowed" };
    let patch: readonly JsonPatchOperation[];
    let wrong: string | undefined;
    try {
      const { object } = this.#review;
      const wanted = patchedBody(object ?? this.#body, draft);
      patch = jsonPatchOf(object ?? this.#body, wanted);
      wrong = object
        ? forbiddenChange(patch, { kind: this.#target.kind.kind, schema: this.#schema })
        : patch.length > 0
          ? "change an object that is deleted"
          : undefined;
    } catch (error) {
      return this.#broken("what the handler patched cannot be applied, the request is refused", error, warnings);
    }
    if (wrong === undefined) return { verdict: { warnings, patch }, outcome: patch.length > 0 ? "changed" : "allowed" };
    const told: Refusal = refusal(`the handler ${handler.id} wants to ${wrong}`, 500);
    this.#logger.error("a handler wants to change what it cannot, the request is refused", {
      ...this.#fields(),
      why: told.message,
      hint: "a mutating handler changes labels, annotations, finalizers, owner references, and what its kind has",
    });
    return { verdict: { refusal: told, warnings }, outcome: "failed" };
  }

  /** The notes of the object where the operator knows it. What is about to be created has none yet. */
  #memoOf(): Memo {
    const { oldObject } = this.#review;
    this.#memo ??= (oldObject && this.#parts.memoOf(this.#target.kind, oldObject)) ?? this.#parts.newMemo();
    return this.#memo;
  }

  /** What a subresource is asked with may be of another kind, with other fields. */
  get #schema(): Target["schema"] {
    const { kind, schema } = this.#target;
    return this.#body.kind === undefined || this.#body.kind === kind.kind ? schema : undefined;
  }

  get #namespace(): string | undefined {
    return this.#review.request.namespace ?? this.#body.metadata?.namespace;
  }

  #fields(): Record<string, unknown> {
    const { operation, userInfo, subresource } = this.#review.request;
    return { ...named(this.#target.handler, this.#runId), operation, subresource, user: userInfo.username };
  }

  #reference() {
    const { metadata } = this.#body;
    return {
      apiVersion: apiVersionOf(this.#target.kind),
      kind: this.#target.kind.kind,
      namespace: this.#namespace,
      name: this.#review.request.name || (metadata?.name ?? metadata?.generateName ?? ""),
      uid: metadata?.uid,
    };
  }
}
