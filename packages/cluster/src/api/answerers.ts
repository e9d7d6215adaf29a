import type { ApiObject, RequestUser } from "../registry/index.ts";
import type { ApiRequest, ApiResponse } from "./exchange.ts";

/** Answers a kind that is never stored: reviews and the like. Gets the posted object, returns the answer. */
export type ReviewHandler = (object: ApiObject, context: ReviewContext) => Record<string, unknown>;

/** What a review is told besides the posted object. */
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
