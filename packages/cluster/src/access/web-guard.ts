import { foreignOrigin, isForeignHost } from "@lotse/client/meta";
import type { ApiRequest } from "../api/index.ts";
import { StatusError } from "../registry/index.ts";

/** The refusal of a request, undefined when it may go on. */
export type Guard = (request: Pick<ApiRequest, "headers">) => StatusError | undefined;

/**
 * Keeps web pages out: one that a user opens on this machine could otherwise use a server that listens for this user only.
 * `names` are those to which a server without TLS answers; with TLS no other name gets as far, for want of a certificate.
 */
export function createWebGuard(names: readonly string[] | undefined): Guard {
  return ({ headers }) => {
    if (names && isForeignHost(headers.host, names)) {
      return refusal(
        `this API server does not answer to the host ${shown(headers.host)}, which a web page could have pointed here: use its address, as in the kubeconfig`,
      );
    }
    const origin = foreignOrigin(headers);
    if (origin === undefined) return undefined;
    return refusal(
      `a web page of ${shown(origin)} sent this request, and pages of other sites may not use this API server: use a program with the kubeconfig instead`,
    );
  };
}

function refusal(reason: string): StatusError {
  return new StatusError({ code: 403, reason: "Forbidden", message: `forbidden: ${reason}`, details: {} });
}

const LONGEST = 200;

const shown = (text = ""): string => JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
