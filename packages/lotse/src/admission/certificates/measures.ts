import type { Clock } from "@lotse/client/meta";
import type { Metrics } from "../../report/index.ts";
import type { CertificateSource } from "./source.ts";

/** The gauges of a certificate: its age, and how long it is good for. An alert on the second knows of all troubles. */
export function measureCertificates(metrics: Metrics, source: CertificateSource, clock: Clock): void {
  metrics.gauge(
    "lotse_webhook_certificate_age_seconds",
    "How long ago the certificate of the webhook server began.",
    () => {
      const { notBefore } = source.health();
      return notBefore ? [[{}, (clock.now() - notBefore.getTime()) / 1_000]] : [];
    },
  );
  metrics.gauge(
    "lotse_webhook_certificate_remaining_seconds",
    "How long the certificate of the webhook server is still good for.",
    () => {
      const { notAfter } = source.health();
      return notAfter ? [[{}, (notAfter.getTime() - clock.now()) / 1_000]] : [];
    },
  );
}
