/** The rules that Prometheus evaluates, as data. */

/** A rule of Prometheus: an alert, or a series that is computed beforehand. */
export type MonitoringRule = AlertRule | RecordingRule;

/** A rule that wakes somebody. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  /** For how long it has to be true. */
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly description: string };
}

/** A rule that computes. */
export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Rules that are evaluated together. */
export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly MonitoringRule[];
}

/** `critical`: nothing is done any more, or soon · `warning`: something is not done · `info`: worth a look. */
export type Severity = "critical" | "warning" | "info";
