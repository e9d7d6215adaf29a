import { X509Certificate } from "node:crypto";
import type { CertificateAuthority } from "@lotse/client/certificates";
import type { RequestSigner } from "../controllers/index.ts";
import { keyUsageBits, purposesOf } from "./key-usages.ts";
import { readSigningRequest, type SigningRequest } from "./signing-requests.ts";

/** Signs with the cluster's authority. `now` is real time: those who look at certificates go by it. */
export function createRequestSigner(
  authority: Pick<CertificateAuthority, "certify">,
  now: () => number,
): RequestSigner<SigningRequest> {
  return {
    now,
    read: readSigningRequest,
    sign: ({ subject, publicKey, altNames }, { usages, notBefore, notAfter }) =>
      authority.certify({
        subject,
        publicKey,
        altNames,
        keyUsage: keyUsageBits(usages),
        purposes: purposesOf(usages),
        validity: { from: notBefore, until: notAfter },
      }),
    expiryOf: (pem) => Date.parse(new X509Certificate(pem).validTo),
  };
}
