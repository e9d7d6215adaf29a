export { CERTIFICATES_DIR, certificatesFromFiles, type FileCertificateOptions } from "./files.ts";
export { ForeignSecretError } from "./keeper.ts";
export { measureCertificates } from "./measures.ts";
export { type LocalCertificateOptions, localCertificates, type OwnCertificateOptions, ownCertificates } from "./own.ts";
export type { CertificateLifetimes } from "./settings.ts";
export type { CertificateHealth, CertificateInUse, CertificateSource, ServingCredentials } from "./source.ts";
export { CERTIFICATES_LABEL } from "./store.ts";
