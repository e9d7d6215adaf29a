import type { ApiObject, RequestUser, StatusError } from "../registry/index.ts";
import type { ApiRequest, ApiResponse } from "./exchange.ts";
import type { RequestInfo } from "./request-info.ts";

/** Who sent a request; undefined when its credentials are wrong. */
export type Authenticator = (request: ApiRequest) => RequestUser | undefined;

/** As whom a request acts: whoever sent it, or the user that its headers name. Throws when that is not permitted. */
export type Impersonator = (request: ApiRequest, requester: RequestUser, info: RequestInfo) => RequestUser;

/** Undefined when the user may do this, else the refusal. The slot of role-based access control. */
export type Authorizer = (user: RequestUser, info: RequestInfo) => StatusError | undefined;

/** Answers a kind that is never stored: reviews and the like. Gets the posted object, returns the answer. */
export type ReviewHandler = (object: ApiObject, context: ReviewContext) => Record<string, unknown>;

export interface ReviewContext {
  readonly user: RequestUser;
  readonly namespace: string | undefined;
  /** Of the object whose subresource this is. */
  readonly name: string | undefined;
  readonly now: number;
}

/** By `group/plural` or `group/plural/subresource`: `authentication.k8s.io/selfsubjectreviews`, `/serviceaccounts/token`. */
export type Reviews = ReadonlyMap<string, ReviewHandler>;

/** Pages beside the resources, by path: `/openid/v1/jwks`. */
export type Documents = ReadonlyMap<string, (request: ApiRequest) => ApiResponse>;
