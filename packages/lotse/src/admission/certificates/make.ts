import { CertificateAuthority, type Validity } from "@lotse/client/certificates";
import { type Keyed, type Remains, readCertificate } from "./content.ts";
import type { Rewrite } from "./plan.ts";
import type { CertificateSettings } from "./settings.ts";

/** Makes what a plan asks for: keys are generated here and nowhere else. */
export function makeCertificates(
  now: number,
  { issuer, staged, retired, leaf }: Rewrite,
  settings: CertificateSettings,
): Remains & { readonly leaf: Keyed; readonly issuer: Keyed } {
  const signs = issuer === "new" ? newAuthority(now, settings) : issuer;
  return {
    issuer: signs,
    staged: staged === "new" ? newAuthority(now, settings) : staged,
    retired,
    leaf: "names" in leaf ? newLeaf(now, signs, leaf.names, settings) : leaf,
    unexplained: [],
    damage: [],
  };
}

/** Its name tells when it was made: two authorities of one name would confuse those who look for who signed. */
function newAuthority(now: number, { authorityMs, backdatedMs }: CertificateSettings): Keyed {
  const validity = { from: now - backdatedMs, until: now + authorityMs };
  const authority = new CertificateAuthority(`lotse-webhooks ${new Date(now).toISOString()}`, now, { validity });
  return { ...readCertificate(authority.certPem), keyPem: authority.keyPem };
}

function newLeaf(now: number, issuer: Keyed, names: readonly string[], settings: CertificateSettings): Keyed {
  const authority = new CertificateAuthority("", now, { kept: { certPem: issuer.pem, keyPem: issuer.keyPem } });
  const validity: Validity = {
    from: Math.max(now - settings.backdatedMs, issuer.notBefore),
    // No certificate is good for longer than its authority.
    until: Math.min(now + settings.leafMs, issuer.notAfter),
  };
  const { certPem, keyPem } = authority.issue({
    commonName: commonNameOf(names),
    hosts: names,
    usage: "server",
    validity,
  });
  return { ...readCertificate(certPem), keyPem };
}

/** A common name has room for 64 characters; what counts are the other names. */
function commonNameOf(names: readonly string[]): string {
  return names.find((name) => name.length <= 64) ?? "webhooks";
}
