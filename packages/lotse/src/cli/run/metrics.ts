/** Where an operator serves its metrics to those who may read them, from `--metrics-auth https://0.0.0.0:8443`. */
import type { Client } from "@lotse/client";
import { systemClock } from "@lotse/client/meta";
import {
  clusterReview,
  type Endpoints,
  type Logger,
  MetricsGuard,
  type Observed,
  openGuardedMetrics,
} from "../../report/index.ts";
import { Problem } from "../terminal/index.ts";
import { addressOf, type PortAddress, serve } from "./liveness.ts";

const EXAMPLE = "https://0.0.0.0:8443";

/** The address that `url` means, and whether it speaks TLS; a {@link Problem} when it means none. */
export function metricsAddress(url: string): PortAddress & { readonly secure: boolean } {
  const protocols = ["https:", "http:"];
  const why = "metrics are served by https, or by http where others encrypt connections";
  const { host, port, path } = addressOf("--metrics-auth", url, EXAMPLE, { protocols, why });
  if (path !== undefined && path !== "/metrics") {
    throw new Problem(
      {
        what: `--metrics-auth ${url} has a path`,
        why: "metrics are always at /metrics",
        todo: `write it like ${EXAMPLE}`,
      },
      { exitCode: 2 },
    );
  }
  return { ...(host !== undefined && { host }), port, secure: url.toLowerCase().startsWith("https:") };
}

/**
 * Serves them. The certificate is one that the process makes itself and renews: those who scrape pods do not know them by
 * name, and take any (`insecure_skip_verify`); what TLS is for here is that nobody else reads their token.
 */
export async function serveMetrics(
  url: string,
  client: Client | undefined,
  logger: Logger,
  operators: () => readonly Observed[],
): Promise<Endpoints> {
  const { secure, ...address } = metricsAddress(url);
  if (!client) {
    throw new Problem({
      what: "--metrics-auth needs credentials to ask the cluster with",
      why: "all operators here bring their own (on.login), and lotse run has none",
      todo: "give lotse run a kubeconfig, or leave --metrics-auth out",
    });
  }
  const guard = new MetricsGuard({ ask: clusterReview(client), clock: systemClock, logger });
  const open = (tls?: { key: string; cert: string }) =>
    serve("--metrics-auth", `metrics cannot be served at ${url}`, () =>
      openGuardedMetrics({ ...address, tls, guard }, operators),
    );
  if (!secure) return open();
  const ended = new AbortController();
  // Only those who ask for it load what makes certificates.
  const { localCertificates } = await import("../../admission/index.ts");
  const parts = { names: ["localhost"], clock: systemClock, random: Math.random, logger, signal: ended.signal };
  const certificates = localCertificates(parts);
  try {
    await certificates.ready;
    const endpoints = await open(certificates.current().credentials);
    certificates.onChange(({ credentials }) => endpoints.renew(credentials));
    const close = async () => {
      await certificates.stop();
      await endpoints.close();
    };
    return { port: endpoints.port, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await certificates.stop();
    throw error;
  }
}
