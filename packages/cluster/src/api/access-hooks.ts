import type { RequestUser, StatusError } from "../registry/index.ts";
import type { ApiRequest } from "./exchange.ts";
import type { RequestInfo } from "./request-info.ts";

/** Who sent a request; undefined when its credentials are wrong. */
export type Authenticator = (request: ApiRequest) => RequestUser | undefined;

/** Undefined when the user may do this, else the refusal. The slot of role-based access control. */
export type Authorizer = (user: RequestUser, info: RequestInfo) => StatusError | undefined;

/** Answers a kind that is never stored: reviews and the like. Gets the posted object, returns the answer. */
export type ReviewHandler = (object: Record<string, unknown>, context: ReviewContext) => Record<string, unknown>;

export interface ReviewContext {
  readonly user: RequestUser;
  readonly namespace: string | undefined;
  readonly now: number;
}

/** By `group/plural`: `authentication.k8s.io/selfsubjectreviews`. */
export type Reviews = ReadonlyMap<string, ReviewHandler>;
