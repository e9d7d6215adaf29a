/**
 * Spans of OpenTelemetry: one for each turn of an object, one for each attempt of a handler, one for each request to the
 * API server that is made inside of them. Whose names and attributes they have, who exports them and how many are kept
 * is the business of the SDK that the user's program sets up; without one the API does nothing.
 *
 * What must stay true: a turn never has a parent. One object's turn may be woken from within another's, whose context
 * would otherwise be inherited by everything that follows from it.
 */
import type { RequestAttempt, RequestFollower, RequestListener } from "@lotse/client";
import { errorMessage } from "@lotse/client/meta";
import type * as OpenTelemetry from "@opentelemetry/api";
import type { JournalRun, JournalTurn } from "./journal.ts";
import type { ObjectReference } from "./logger.ts";
import { readPath } from "./rest-path.ts";

/** The API package, found at run time. */
export type TraceApi = Pick<
  typeof OpenTelemetry,
  "ROOT_CONTEXT" | "SpanKind" | "SpanStatusCode" | "context" | "isSpanContextValid" | "trace"
>;

type Attributes = Record<string, string | number | boolean | string[] | undefined>;

/** What is known of a handler's attempt when it begins. */
export interface TracedHandler {
  readonly id: string;
  /** `change`, `event`, `timer`, `daemon`, … ; `startup`, `source`, … for handlers of the operator itself. */
  readonly type: string;
  /** The same in the log and in the journal. */
  readonly runId: string;
  /** Why a handler of changes is called: `create`, `update`, … */
  readonly reason?: string | undefined;
  /** How many attempts there were before. */
  readonly retry: number;
}

/** How an attempt ended. */
export interface TracedEnd {
  readonly outcome: JournalRun["outcome"];
  readonly error: unknown;
}

/** See the module comment. */
export class Traces {
  readonly #api: TraceApi;
  readonly #tracer: OpenTelemetry.Tracer;
  readonly #operator: string;

  /** @param version of Lotse: spans say who made them */
  constructor(api: TraceApi, operator: string, version: string) {
    this.#api = api;
    this.#tracer = api.trace.getTracer("lotse", version);
    this.#operator = operator;
  }

  /** Takes a turn. `last` is the last turn in the object's journal: another one afterwards, if there was one to take. */
  turn<T>(
    object: () => ObjectReference,
    kind: string,
    waitedMs: number,
    work: () => Promise<T>,
    last: () => JournalTurn | undefined,
  ): Promise<T> {
    const options = new LazyOptions(() => {
      return { ...this.#about(object()), "lotse.queue.wait_seconds": waitedMs / 1_000 };
    });
    const span = this.#tracer.startSpan(`turn ${kind}`, options, this.#api.ROOT_CONTEXT);
    return this.#isNothing(span) ? work() : this.#turn(span, work, last);
  }

  async #turn<T>(span: OpenTelemetry.Span, work: () => Promise<T>, last: () => JournalTurn | undefined): Promise<T> {
    const before = last();
    try {
      return await this.#api.context.with(this.#api.trace.setSpan(this.#api.ROOT_CONTEXT, span), work);
    } finally {
      const turn = last();
      if (turn !== undefined && turn !== before && span.isRecording()) {
        span.setAttributes(turnAttributes(turn));
        if (turn.problem !== undefined) this.#fail(span, turn.problem);
      }
      span.end();
    }
  }

  /**
   * Makes one attempt of a handler, inside the turn that it is part of. A daemon outlives the turn that began it: it has a
   * trace of its own, with a link to that turn. So have sources and scheduled functions, which are part of no turn. A
   * handler of the operator itself has no object.
   */
  attempt<T>(
    object: (() => ObjectReference) | undefined,
    handler: TracedHandler,
    work: () => T | Promise<T>,
    endOf: (result: T) => TracedEnd,
  ): T | Promise<T> {
    const { context, trace, ROOT_CONTEXT } = this.#api;
    const alone = ALONE.has(handler.type);
    const begunBy = alone ? trace.getActiveSpan()?.spanContext() : undefined;
    const parent = alone ? ROOT_CONTEXT : context.active();
    const attributes = () => ({ ...this.#aboutHandler(object?.()), ...handlerAttributes(handler) });
    const options = new LazyOptions(attributes, begunBy ? [{ context: begunBy }] : []);
    const span = this.#tracer.startSpan(`handler ${handler.id}`, options, parent);
    return this.#isNothing(span) ? work() : this.#attempt(span, parent, work, endOf);
  }

  async #attempt<T>(
    span: OpenTelemetry.Span,
    parent: OpenTelemetry.Context,
    work: () => T | Promise<T>,
    endOf: (result: T) => TracedEnd,
  ): Promise<T> {
    const { context, trace } = this.#api;
    try {
      const result = await context.with(trace.setSpan(parent, span), work);
      const { outcome, error } = endOf(result);
      span.setAttribute("lotse.handler.outcome", outcome);
      if (error !== undefined && !outcome.startsWith("waits") && outcome !== "stopped") {
        span.recordException(error instanceof Error ? error : errorMessage(error));
      }
      if (outcome === "failed" || outcome === "failed for good") {
        span.setAttribute("error.type", typeOf(error));
        this.#fail(span, errorMessage(error));
      }
      return result;
    } finally {
      span.end();
    }
  }

  /** Follows the requests that are made inside of a span; streams of objects belong to no turn. */
  requestsTo(server: string): RequestListener {
    const { origin, prefix, address, port } = placeOf(server);
    return ({ method, path, watch }) => {
      if (!this.#api.trace.getActiveSpan()?.isRecording()) return undefined;
      const { template, resource, namespace } = readPath(path);
      const attributes: Attributes = {
        "http.request.method": method,
        "server.address": address,
        "server.port": port,
        "url.full": `${origin}${prefix}${path}`,
        "url.template": `${prefix}${template}`,
        "k8s.namespace.name": namespace,
        "lotse.request.resource": resource,
        ...(watch && { "lotse.request.watch": true }),
      };
      const name = `${method} ${prefix}${template}`;
      return this.#follow(this.#tracer.startSpan(name, { kind: this.#api.SpanKind.CLIENT, attributes }));
    };
  }

  #follow(span: OpenTelemetry.Span): RequestFollower {
    let last: RequestAttempt | undefined;
    let attempts = 0;
    return {
      attempted(attempt) {
        last = attempt;
        attempts++;
      },
      ended: (end) => {
        const status = "status" in end ? end.status : last?.status;
        if (status !== undefined) span.setAttribute("http.response.status_code", status);
        if (attempts > 1) span.setAttribute("http.request.resend_count", attempts - 1);
        if ("error" in end) {
          const refused = status !== undefined && status >= 400;
          span.setAttribute("error.type", refused ? String(status) : typeOf(end.error));
          this.#fail(span, errorMessage(end.error));
        }
        span.end();
      },
    };
  }

  #aboutHandler(object: ObjectReference | undefined): Attributes {
    return object ? this.#about(object) : { "lotse.operator": this.#operator };
  }

  #about({ apiVersion, kind, namespace, name, uid }: ObjectReference): Attributes {
    const word = WORDS.get(`${apiVersion}/${kind}`);
    return {
      "lotse.operator": this.#operator,
      "lotse.object.api_version": apiVersion,
      "lotse.object.kind": kind,
      "lotse.object.name": name,
      "lotse.object.uid": uid,
      "k8s.namespace.name": namespace,
      ...(word && { [`k8s.${word}.name`]: name, [`k8s.${word}.uid`]: uid }),
    };
  }

  #fail(span: OpenTelemetry.Span, message: string): void {
    span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message });
  }

  /** No SDK is set up: then nothing is gained by carrying a context along. A span that is not sampled is something. */
  #isNothing(span: OpenTelemetry.Span): boolean {
    const context = span.spanContext();
    return context.traceId === NO_TRACE || !this.#api.isSpanContextValid(context);
  }
}

/** What spans are called that nobody keeps. */
const NO_TRACE = "0".repeat(32);

/**
 * What a span begins with. Without an SDK nobody asks for the attributes, and with one a sampler and the span do: they are
 * made at the first question.
 */
class LazyOptions implements OpenTelemetry.SpanOptions {
  readonly #make: () => Attributes;
  readonly links: OpenTelemetry.Link[];
  #made: Attributes | undefined;

  constructor(make: () => Attributes, links: OpenTelemetry.Link[] = []) {
    this.#make = make;
    this.links = links;
  }

  get attributes(): Attributes {
    this.#made ??= this.#make();
    return this.#made;
  }
}

/** Sorts of handlers that run beside all turns. */
const ALONE: ReadonlySet<string> = new Set(["daemon", "source", "schedule"]);

/** Kinds for which the semantic conventions have a word. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["v1/Node", "node"],
  ["v1/Pod", "pod"],
  ["apps/v1/DaemonSet", "daemonset"],
  ["apps/v1/Deployment", "deployment"],
  ["apps/v1/ReplicaSet", "replicaset"],
  ["apps/v1/StatefulSet", "statefulset"],
  ["batch/v1/CronJob", "cronjob"],
  ["batch/v1/Job", "job"],
]);

function turnAttributes({ woke, version, ran, wrote, problem, after, nextAt }: JournalTurn): Attributes {
  const causes = ran.flatMap(({ reason }) => reason ?? []);
  const waits = nextAt === undefined ? "success" : "requeue_after";
  return {
    "lotse.turn.woken_by": [...new Set(woke.map(({ by }) => by))],
    "lotse.turn.cause": causes.length > 0 ? [...new Set(causes)] : undefined,
    "lotse.turn.result": problem !== undefined ? "error" : after === "goes on" ? "requeue" : waits,
    "lotse.turn.handlers": ran.length,
    "lotse.turn.writes": wrote.length,
    "lotse.object.resource_version": version,
  };
}

function handlerAttributes({ id, type, runId, reason, retry }: TracedHandler): Attributes {
  return {
    "lotse.handler.id": id,
    "lotse.handler.type": type,
    "lotse.handler.run_id": runId,
    "lotse.handler.reason": reason,
    "lotse.handler.retry": retry,
  };
}

function typeOf(error: unknown): string {
  return error instanceof Error ? error.name : "_OTHER";
}

/** Without a user and a password, which have no place in a trace. */
function placeOf(server: string): { origin: string; prefix: string; address: string; port: number | undefined } {
  if (!URL.canParse(server)) return { origin: server, prefix: "", address: server, port: undefined };
  const { origin, pathname, hostname, port, protocol } = new URL(server);
  const usual = protocol === "https:" ? 443 : 80;
  return { origin, prefix: pathname.replace(/\/$/, ""), address: hostname, port: port === "" ? usual : Number(port) };
}
