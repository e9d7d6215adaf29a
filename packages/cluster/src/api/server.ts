import type { NodePods } from "../kubelet/index.ts";
import type { ProtobufAnswers } from "../protobuf/index.ts";
import {
  type Backend,
  type BuiltinTables,
  badRequest,
  type Requester,
  type RequestUser,
  StatusError,
  unknownResource,
} from "../registry/index.ts";
import type { Documents, Reviews } from "./answerers.ts";
import { Discovery } from "./documents/discovery.ts";
import { healthResponse, versionDocument } from "./documents/health.ts";
import { Metrics, metricsResponse, type ProcessUsage } from "./documents/metrics.ts";
import { type ApiRequest, type ApiResponse, textResponse } from "./exchange.ts";
import type { FaultRequest } from "./faults/fault-rules.ts";
import type { Faults } from "./faults/faults.ts";
import type { ProtobufDecoder } from "./media/body-codec.ts";
import { objectResponse, protobufResponse, Warnings, wantsPretty, yamlResponse } from "./media/encode.ts";
import { acceptsDocuments, negotiate, notAcceptable, REPRESENTATIONS } from "./media/negotiate.ts";
import { ObjectTexts } from "./media/object-text.ts";
import type { OpenApi } from "./openapi/openapi.ts";
import { parseRequestInfo, type RequestInfo } from "./request-info.ts";
import type { RequestLog } from "./request-log.ts";
import { handleResource } from "./resources/resource-handler.ts";
import { findReview, handleReview } from "./resources/review-handler.ts";

/** What the API is made of. */
export interface ApiServerOptions {
  /** What the process uses, for `/metrics`. */
  readonly machine?: () => ProcessUsage;
  readonly backend: Backend;
  readonly tables: () => BuiltinTables;
  readonly reviews: Reviews;
  readonly documents?: Documents | undefined;
  readonly protobuf: ProtobufDecoder;
  /** The node that runs pods, once there is one. */
  readonly pods: () => NodePods | undefined;
  readonly log: RequestLog;
  /** What goes wrong on purpose. */
  readonly faults?: Faults | undefined;
  /** Whether the server is up and not going down. */
  readonly ready: () => boolean;
}

/** The Kubernetes API without a network: requests in, answers out. */
export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #discovery: Discovery;
  readonly #texts = new ObjectTexts();
  readonly #metrics: Metrics;
  #openApi: Promise<OpenApi> | undefined;
  #protobuf: Promise<ProtobufAnswers> | undefined;
  /** Loaded by the first client that takes protobuf. */
  readonly #answers = (): Promise<ProtobufAnswers> => {
    this.#protobuf ??= import("../protobuf/index.ts").then(
      ({ ProtobufAnswers }) => new ProtobufAnswers(this.#options.tables().messages),
    );
    return this.#protobuf;
  };

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#metrics = new Metrics(() => options.backend.clock.monotonic());
    this.#discovery = new Discovery(options.backend.catalog);
  }

  /** Begins to answer a request: what it is about is known from here on, who sent it is not. */
  open(request: ApiRequest): ApiCall {
    const info = parseRequestInfo(request.method, request.path, request.query);
    const measured = this.#metrics.begin(request, info, this.#isServed(info));
    const requester = undefined;
    return { request, info, warnings: new Warnings(), measured, requester, impersonated: undefined, body: undefined };
  }

  /** Answers a request that `user` may make; never rejects. */
  async answer(call: ApiCall, user: RequestUser): Promise<ApiResponse> {
    try {
      const { faults } = this.#options;
      const respond = async () => (call.info.target ? this.#resource(call, user) : this.#document(call));
      return this.#close(
        call,
        await (faults?.concern(call.info.verb) ? faults.around(describeCall(call), respond) : respond()),
      );
    } catch (error) {
      return this.refuse(call, error);
    }
  }

  /** Answers a request with what went wrong; never rejects. */
  async refuse(call: ApiCall, error: unknown): Promise<ApiResponse> {
    return this.#close(call, await this.#failure(call.request, error));
  }

  /** Every answer leaves by this door: it is counted, and written down. */
  #close(call: ApiCall, response: ApiResponse): ApiResponse {
    const warning = call.warnings.header();
    const audit = this.#options.backend.uuid();
    this.#record(call, response.status);
    call.measured(response.status);
    return {
      ...response,
      headers: { ...response.headers, "audit-id": audit, ...(warning.length > 0 ? { warning } : {}) },
    };
  }

  async #resource(call: ApiCall, user: RequestUser): Promise<ApiResponse> {
    const { backend, protobuf } = this.#options;
    const { request } = call;
    const { target } = call.info;
    if (!target) throw unknownResource();
    const endpoint = backend.catalog.find(target.group, target.version, target.resource);
    if (!endpoint) {
      const served = backend.catalog.hasVersion(target.group, target.version);
      if (!this.#hasGroup(target.group) || (!served && !this.#isBuiltIn(target.group))) return notFoundPage();
      throw unknownResource();
    }
    const annotate = (key: string, value: string) => {
      call.auditAnnotations = { ...call.auditAnnotations, [key]: value };
    };
    const requester: Requester = { user, defaultManager: managerOf(request), warn: call.warnings.add, annotate };
    const noteBody = (value: unknown) => {
      call.body = value;
    };
    const review = findReview(this.#options.reviews, target, endpoint, this.#options.tables);
    const answers = this.#answers;
    if (review)
      return handleReview(request, review, { requester, now: backend.clock.now(), protobuf, answers, noteBody });
    return handleResource(request, call.info, endpoint, {
      backend,
      requester,
      warnings: call.warnings,
      protobuf,
      texts: this.#texts,
      tables: this.#options.tables,
      answers,
      pods: this.#options.pods(),
      noteBody,
    });
  }

  async #document({ request, info }: ApiCall): Promise<ApiResponse> {
    const { segments } = info;
    const writing = { pretty: wantsPretty(request) };
    // The lists of groups are answered whatever the method: a real server does not look at it there.
    const anyMethod = segments[0] === "apis" && segments.length <= 2;
    if (!anyMethod && request.method !== "GET" && request.method !== "HEAD") return methodNotAllowedPage(request);
    if (["api", "apis", "version"].includes(segments[0] ?? "") && !acceptsDocuments(request.headers.accept)) {
      throw notAcceptable(
        request.headers.accept ?? "",
        segments[0] === "version" ? ["application/json"] : REPRESENTATIONS,
      );
    }
    const page = this.#options.documents?.get(`/${segments.join("/")}`);
    if (page) return page(request);
    switch (segments[0]) {
      case "":
        return objectResponse(200, { paths: this.#paths() }, { pretty: true });
      case "version":
        if (segments.length === 1) return objectResponse(200, versionDocument(), { pretty: true });
        throw unknownResource();
      case "healthz":
      case "livez":
      case "readyz":
        return healthResponse(segments[0], segments.slice(1), request.query, this.#options.ready());
      case "metrics":
        if (segments.length === 1) return this.#metricsPage();
        break;
      case "api":
      case "apis": {
        const found = this.#discovery.respond(request, segments, writing);
        if (found) return found;
        const group = segments[0] === "api" ? "" : (segments[1] ?? "");
        if (this.#hasGroup(group)) throw unknownResource();
        break;
      }
      case "openapi": {
        const found = (await this.#loadOpenApi()).respond(request, segments);
        if (found) return found;
        if (segments[1] === "v3") return { type: "whole", status: 404, headers: NO_CACHE, body: "" };
        break;
      }
    }
    return notFoundPage();
  }

  /** Whether a request is about something that the server has. */
  #isServed({ target }: RequestInfo): boolean {
    if (!target) return false;
    const found = this.#options.backend.catalog.find(target.group, target.version, target.resource);
    const { subresource } = target;
    return found !== undefined && (!subresource || found.version.subresources.some(({ name }) => name === subresource));
  }

  #metricsPage(): ApiResponse {
    const { backend, machine } = this.#options;
    const kinds = [...backend.catalog.all()].filter(({ table }) => table !== "");
    const objects = kinds.map(({ group, plural, table }) => ({ group, plural, count: backend.store.count(table) }));
    return metricsResponse(this.#metrics, objects, machine?.());
  }

  /** Documents that most clients never ask for. */
  #loadOpenApi(): Promise<OpenApi> {
    const load = async () => {
      const { OpenApi } = await import("./openapi/openapi.ts");
      return new OpenApi(this.#options.backend.catalog, this.#options.tables);
    };
    this.#openApi ??= load();
    return this.#openApi;
  }

  #isBuiltIn(group: string): boolean {
    return [...this.#options.backend.catalog.all()].some((resource) => resource.group === group && !resource.custom);
  }

  #hasGroup(group: string): boolean {
    return this.#options.backend.catalog.groups().some((known) => known.group === group);
  }

  #paths(): string[] {
    const paths = [
      ...[
        "/api",
        "/api/v1",
        "/apis",
        "/healthz",
        "/livez",
        "/metrics",
        "/openapi/v2",
        "/openapi/v3",
        "/readyz",
        "/version",
      ],
    ];
    for (const { group, versions } of this.#options.backend.catalog.groups()) {
      if (group === "") continue;
      paths.push(`/apis/${group}`, ...versions.map((version) => `/apis/${group}/${version}`));
    }
    paths.push(...(this.#options.documents?.keys() ?? []));
    return paths.sort();
  }

  async #failure(request: ApiRequest, failure: unknown): Promise<ApiResponse> {
    // The only RangeError that a request can bring about: it nests deeper than there is stack.
    const error = failure instanceof RangeError ? badRequest("exceeded max depth") : failure;
    const status =
      error instanceof StatusError
        ? error
        : new StatusError({
            code: 500,
            reason: "InternalError",
            message: `Internal error occurred: ${error instanceof Error ? error.message : String(error)}`,
          });
    const retry = status.details?.retryAfterSeconds;
    const headers = retry === undefined ? {} : { "retry-after": String(retry) };
    const format = negotiate(request.headers.accept, "objects")?.format;
    if (format === "yaml") return yamlResponse(status.code, status.toStatus(), headers);
    if (format === "protobuf") {
      return protobufResponse(status.code, (await this.#answers()).object(status.toStatus()), headers);
    }
    return objectResponse(status.code, status.toStatus(), { pretty: wantsPretty(request) }, headers);
  }

  #record(call: ApiCall, status: number): void {
    const impersonatedUser = call.impersonated && { impersonatedUser: call.impersonated.username };
    const noted = call.auditAnnotations && { auditAnnotations: call.auditAnnotations };
    const described = { ...describeCall(call), ...impersonatedUser, ...noted };
    this.#options.log.add({ ...described, method: call.request.method, status, body: call.body });
  }
}

/** A request that is being answered, and what becomes known about it meanwhile. */
export interface ApiCall {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly warnings: Warnings;
  /** Counts the answer. */
  readonly measured: (status: number) => void;
  /** Who sent it. */
  requester: RequestUser | undefined;
  /** As whom it acts, where that is another user. */
  impersonated: RequestUser | undefined;
  /** What admission has noted down for an audit. */
  auditAnnotations?: Readonly<Record<string, string>>;
  body: unknown;
}

/** What the log and the faults know of a request. */
function describeCall({ request, info, requester }: ApiCall): FaultRequest {
  const { target, verb } = info;
  const query = request.query.toString();
  return {
    verb,
    path: query === "" ? request.path : `${request.path}?${query}`,
    user: requester?.username ?? "",
    userAgent: request.headers["user-agent"] ?? "",
    resource: target && (target.group === "" ? target.resource : `${target.resource}.${target.group}`),
    namespace: target?.namespace,
    name: target?.name,
    subresource: target?.subresource,
  };
}

const NO_CACHE = { "cache-control": "no-cache, private" };

function notFoundPage(): ApiResponse {
  return textResponse(404, "404 page not found\n", {
    "cache-control": "no-cache, private",
    "x-content-type-options": "nosniff",
  });
}

function methodNotAllowedPage(request: ApiRequest): ApiResponse {
  const status = new StatusError({
    code: 405,
    reason: "MethodNotAllowed",
    message: "the server does not allow this method on the requested resource",
    details: {},
  });
  return objectResponse(405, status.toStatus(), { pretty: wantsPretty(request) });
}

const LONGEST_MANAGER = 128;

/** The program that a client calls itself, up to its version. */
function managerOf(request: ApiRequest): string {
  const name = (request.headers["user-agent"] ?? "").split("/")[0] ?? "";
  const printable = name.replace(/[^\x20-\x7e\u00a0-\uffff]/g, "").slice(0, LONGEST_MANAGER);
  return printable === "" ? "unknown" : printable;
}
