/**
 * Certificates for an operator whose clock a test moves. The TLS of both ends looks at the time of the machine, so they
 * have to be good at every time: those that an operator makes for itself are not, when its clock is elsewhere.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { CertificateAuthority } from "@lotse/client/certificates";
import type { Operator } from "lotse";

const ALWAYS = { from: Date.parse("2000-01-01T00:00:00Z"), until: Date.parse("2999-01-01T00:00:00Z") };
const HOSTS = ["127.0.0.1", "localhost"];

/** Files with certificates, for `webhooks.certificates`. */
export class WebhookCertificates {
  readonly dir = mkdtempSync(path.join(os.tmpdir(), "lotse-harness-"));

  constructor() {
    const authority = new CertificateAuthority("lotse-harness", Date.now(), { validity: ALWAYS });
    const issued = authority.issue({ commonName: "webhooks", hosts: HOSTS, usage: "server", validity: ALWAYS });
    const files = { "ca.crt": authority.certPem, "tls.crt": issued.certPem, "tls.key": issued.keyPem };
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(this.dir, name), text, { mode: 0o600 });
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Whether the API server asks anything of the operator. */
export function servesWebhooks({ admission, conversions, kinds }: Operator): boolean {
  if (admission.length > 0 || conversions.size > 0) return true;
  return kinds.some((kind) => ((kind as { readonly versions?: readonly unknown[] }).versions?.length ?? 0) > 1);
}
