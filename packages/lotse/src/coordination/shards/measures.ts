import type { Metrics } from "../../report/index.ts";

/** What the gauges ask for. */
export interface MeasuredShard {
  readonly members: readonly string[];
  readonly epoch: number;
  readonly share: number;
}

/** Begins to measure a member's part; the gauges ask `shard` whenever the metrics are read. */
export function measureShards(metrics: Metrics, name: string, shard: () => MeasuredShard): void {
  metrics.gauge("lotse_shard_members", "How many processes share the objects, as far as this one knows.", () => [
    [{ name }, shard().members.length],
  ]);
  metrics.gauge("lotse_shard_epoch", "How often this process has changed its mind about who takes part.", () => [
    [{ name }, shard().epoch],
  ]);
  metrics.gauge("lotse_shard_share_ratio", "The part of all objects that this process works on, from 0 to 1.", () => [
    [{ name }, shard().share],
  ]);
}
