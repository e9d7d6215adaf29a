import { X509Certificate } from "node:crypto";
import type { RequestSigner } from "../controllers/index.ts";
import type { CertificateAuthority } from "./certificates.ts";
import { readSigningRequest, type SigningRequest } from "./signing-requests.ts";

/** Signs with the cluster's authority. `now` is real time: those who look at certificates go by it. */
export function createRequestSigner(
  authority: Pick<CertificateAuthority, "certify">,
  now: () => number,
): RequestSigner<SigningRequest> {
  return {
    now,
    read: readSigningRequest,
    sign: (request, terms) => authority.certify(request, terms),
    expiryOf: (pem) => Date.parse(new X509Certificate(pem).validTo),
  };
}
