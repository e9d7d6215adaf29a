/**
 * `@lotse/client/certificates`: makes X.509 certificates. What reads them is `X509Certificate` of node:crypto; the
 * values of DER are for requests and extensions that others have written. No part of the main entry.
 *
 * @module
 */
export {
  type AuthorityOptions,
  CertificateAuthority,
  type CertificateRequest,
  type CertificateTerms,
  type KeyAndCertificate,
  type Validity,
} from "./authority.ts";
export {
  bits,
  boolean,
  type Der,
  explicit,
  implicit,
  octets,
  oid,
  sequence,
  setOf,
  time,
  unsigned,
  utf8,
} from "./der.ts";
export { type DerValue, readDer, readOid } from "./der-reader.ts";
export { type PemBlock, readPem, writePem } from "./pem.ts";
