import type { ApiCall, ApiRequest, ApiResponse, ApiServer, RequestInfo } from "../api/index.ts";
import { type RequestUser, type StatusError, unauthorized } from "../registry/index.ts";
import type { Guard } from "./web-guard.ts";

/** Who sent a request; undefined when its credentials are wrong. */
export type Authenticator = (request: ApiRequest) => RequestUser | undefined;

/** As whom a request acts: its sender, or the user that its headers name. Throws when that is not permitted. */
export type Impersonator = (request: ApiRequest, requester: RequestUser, info: RequestInfo) => RequestUser;

/** Undefined when the user may do this, else the refusal. */
export type Permission = (user: RequestUser, info: RequestInfo) => StatusError | undefined;

/** The questions that a request has to pass, in the order in which they are asked. */
export interface GateQuestions {
  /** The refusal of a request that shall not even be looked at. */
  readonly refuse?: Guard | undefined;
  readonly authenticate: Authenticator;
  readonly impersonate: Impersonator;
  readonly authorize: Permission;
}

/** Where requests come in: none reaches the API before it is known who sent it, and that they may. */
export class Gate {
  readonly #api: ApiServer;
  readonly #questions: GateQuestions;

  constructor(api: ApiServer, questions: GateQuestions) {
    this.#api = api;
    this.#questions = questions;
  }

  /** Answers one request; never rejects. */
  async handle(request: ApiRequest): Promise<ApiResponse> {
    const call = this.#api.open(request);
    let user: RequestUser;
    try {
      user = this.#admit(call);
    } catch (error) {
      return this.#api.refuse(call, error);
    }
    return this.#api.answer(call, user);
  }

  /** As whom the request acts; throws when it may not. */
  #admit(call: ApiCall): RequestUser {
    const { request, info } = call;
    const { refuse, authenticate, impersonate, authorize } = this.#questions;
    const foreign = refuse?.(request);
    if (foreign) throw foreign;
    const requester = authenticate(request);
    if (!requester) throw unauthorized();
    call.requester = requester;
    const user = impersonate(request, requester, info);
    if (user !== requester) call.impersonated = user;
    const refusal = authorize(user, info);
    if (refusal) throw refusal;
    // A WebSocket can only be opened by GET; a user who opens one into a pod needs the right to do so by POST, too.
    if (info.verb === "get" && CONNECTS.has(info.target?.subresource ?? "")) {
      const also = authorize(user, { ...info, verb: "create" });
      if (also) throw also;
    }
    return user;
  }
}

const CONNECTS: ReadonlySet<string> = new Set(["exec", "attach", "portforward"]);
