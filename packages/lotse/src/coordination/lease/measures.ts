import type { Counter, Metrics } from "../../report/index.ts";

/** What is measured of a Lease: where the meaning is the same, with the names of client-go and controller-runtime. */
export interface LeaseMeasures {
  /** A renewal met another write, and had to look first. */
  readonly slowPath: Counter;
  /** A renewal that did not succeed. */
  readonly renewalFailures: Counter;
}

/** What the gauges ask for. */
export interface MeasuredLease {
  readonly held: boolean;
  /** Since the last renewal was sent; undefined while it is not held. */
  readonly renewedMs: number | undefined;
}

/** Begins to measure; the gauges ask `lease` whenever the metrics are read. */
export function measureLease(metrics: Metrics, name: string, lease: () => MeasuredLease): LeaseMeasures {
  metrics.gauge("leader_election_master_status", "Whether this process holds the Lease: 1 if it does, else 0.", () => [
    [{ name }, lease().held ? 1 : 0],
  ]);
  metrics.gauge(
    "lotse_lease_renewal_age_seconds",
    "How long ago the last successful renewal of the held Lease was sent.",
    () => {
      const { renewedMs } = lease();
      return renewedMs === undefined ? [] : [[{ name }, renewedMs / 1_000]];
    },
  );
  return {
    slowPath: metrics.counter(
      "leader_election_slowpath_total",
      "Renewals of the Lease that met another write and had to read it first.",
      { name },
    ),
    renewalFailures: metrics.counter(
      "lotse_lease_renewal_failures_total",
      "Renewals of the held Lease that did not succeed.",
      { name },
    ),
  };
}
