import type { ApiRequest, ApiResponse, Documents } from "../api/index.ts";
import { StatusError } from "../registry/index.ts";
import type { ServiceAccountTokens } from "./tokens.ts";

const KEYS_PATH = "/openid/v1/jwks";
const HEADERS = { "cache-control": "public, max-age=3600" };

/** What a program needs to check tokens of service accounts without asking the server about each. */
export function openIdDocuments(tokens: ServiceAccountTokens): Documents {
  const configuration = (request: ApiRequest): ApiResponse =>
    page(request, "application/json", {
      issuer: tokens.issuer,
      jwks_uri: `https://${request.host}${KEYS_PATH}`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: [tokens.algorithm],
    });
  return new Map([
    ["/.well-known/openid-configuration", configuration],
    [KEYS_PATH, (request) => page(request, "application/jwk-set+json", tokens.keySet())],
  ]);
}

function page(request: ApiRequest, type: string, content: unknown): ApiResponse {
  if (!accepts(request.headers.accept, type)) {
    const message = `406: Not Acceptable\n\nAvailable representations: ${type}`;
    throw new StatusError({ code: 406, reason: "NotAcceptable", message, details: {} });
  }
  return {
    type: "whole",
    status: 200,
    headers: { ...HEADERS, "content-type": type },
    body: JSON.stringify(content),
  };
}

function accepts(header: string | undefined, type: string): boolean {
  if (header === undefined || header.trim() === "") return true;
  const wanted = header.split(",").map((entry) => entry.split(";")[0]?.trim().toLowerCase());
  return wanted.some((one) => one === type || one === "*/*");
}
