/** The headers of a request: those of the client, of the identity, and its own. */
import type { OutgoingHttpHeaders } from "node:http";
import { type Identity, IMPERSONATED_USER, isImpersonation } from "../config/index.ts";
import type { RequestHeaders } from "./request.ts";

/** What a client sends with each request. */
export interface CommonHeaders {
  readonly userAgent: string;
  readonly headers: RequestHeaders;
}

/** A request that impersonates a user means that one, and nothing of the one that the kubeconfig impersonates. */
export function outgoingHeaders(
  { userAgent, headers }: CommonHeaders,
  identity: Identity,
  own?: RequestHeaders,
): OutgoingHttpHeaders {
  const authorization = authorizationOf(identity);
  return {
    "user-agent": userAgent,
    ...((own?.[IMPERSONATED_USER] === undefined ? headers : withoutImpersonation(headers)) as OutgoingHttpHeaders),
    ...(authorization !== undefined && { authorization }),
    ...(own as OutgoingHttpHeaders),
  };
}

/** The same headers, of oneself. */
function withoutImpersonation(headers: RequestHeaders): RequestHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isImpersonation(name)));
}

/** What stands for the identity among the headers. */
function authorizationOf({ token, authorization }: Identity): string | undefined {
  return authorization ?? (token === undefined ? undefined : `Bearer ${token}`);
}
