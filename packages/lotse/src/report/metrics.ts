/** Counters of a running operator, in the text form that Prometheus reads. */

/** Labels of one counter. */
export type MetricLabels = Readonly<Record<string, string>>;

interface Family {
  readonly help: string;
  readonly values: Map<string, number>;
}

/**
 * Counts things by name and labels.
 *
 * @example
 * ```ts
 * metrics.count("lotse_hot_loops_total", "Handlers called by their own changes.", { kind: "Machine" });
 * ```
 */
export class Metrics {
  readonly #families = new Map<string, Family>();

  /** One more. */
  count(name: string, help: string, labels: MetricLabels = {}): void {
    let family = this.#families.get(name);
    if (!family) {
      family = { help, values: new Map() };
      this.#families.set(name, family);
    }
    const key = labelText(labels);
    family.values.set(key, (family.values.get(key) ?? 0) + 1);
  }

  /** Everything that was counted. */
  render(): string {
    const lines: string[] = [];
    for (const [name, { help, values }] of this.#families) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} counter`);
      for (const [labels, value] of values) lines.push(`${name}${labels} ${value}`);
    }
    return lines.length > 0 ? `${lines.join("\n")}\n` : "";
  }
}

function labelText(labels: MetricLabels): string {
  const parts = Object.entries(labels).map(([key, value]) => `${key}="${value.replace(/[\\"\n]/g, escapeChar)}"`);
  return parts.length > 0 ? `{${parts.join(",")}}` : "";
}

function escapeChar(char: string): string {
  return char === "\n" ? "\\n" : `\\${char}`;
}
