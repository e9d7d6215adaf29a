export type { CertificateHealth, CertificateInUse, CertificateSource, ServingCredentials } from "./source.ts";
