/** What an operator counts and measures, in the text form that Prometheus reads. */

/** Labels of one series. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Counts one thing. */
export interface Counter {
  add(amount?: number): void;
}

/** Measures how long one thing takes, or how large it is. */
export interface Histogram {
  observe(value: number): void;
}

/** One value of a gauge: what it is about, and how much. */
export type Reading = readonly [labels: MetricLabels, value: number];

type Type = "counter" | "gauge" | "histogram";

interface Family {
  readonly help: string;
  readonly type: Type;
  readonly series: Map<string, Labelled<Series>>;
  /** Asked when somebody reads. */
  readonly readers: (() => Iterable<Reading>)[];
}

/** A series and what it is about. */
interface Labelled<S extends Series> {
  readonly labels: MetricLabels;
  readonly series: S;
}

interface Series {
  render(name: string, labels: MetricLabels): string[];
}

/** Seconds: from a millisecond, where handlers that only look at their object are, to a minute. */
const USUAL_BOUNDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

/**
 * Counters, histograms and gauges by name and labels. A series is looked up once and then used without any search, for
 * the sake of what is counted a thousand times a second; gauges are only asked for when somebody reads them.
 *
 * @example
 * ```ts
 * const runs = metrics.counter("lotse_handler_runs_total", "Attempts of handlers.", { kind: "Machine" });
 * runs.add();
 * ```
 */
export class Metrics {
  readonly #families = new Map<string, Family>();

  counter(name: string, help: string, labels: MetricLabels = {}): Counter {
    return this.#series(name, help, "counter", labels, () => new CounterSeries());
  }

  /** @param bounds upper bounds, in ascending order. Default: those of durations in seconds. */
  histogram(
    name: string,
    help: string,
    labels: MetricLabels = {},
    bounds: readonly number[] = USUAL_BOUNDS,
  ): Histogram {
    return this.#series(name, help, "histogram", labels, () => new HistogramSeries(bounds));
  }

  /** `read` is called each time that somebody reads the metrics. Several may share a name. */
  gauge(name: string, help: string, read: () => Iterable<Reading>, type: "gauge" | "counter" = "gauge"): void {
    this.#family(name, help, type).readers.push(read);
  }

  /** One more. */
  count(name: string, help: string, labels: MetricLabels = {}): void {
    this.counter(name, help, labels).add();
  }

  /** Everything, as Prometheus reads it. */
  render(): string {
    const lines: string[] = [];
    for (const [name, family] of this.#families) {
      const values = [...family.series.values()].flatMap(({ labels, series }) => series.render(name, labels));
      for (const read of family.readers) for (const [labels, value] of read()) values.push(line(name, labels, value));
      if (values.length > 0) lines.push(`# HELP ${name} ${family.help}`, `# TYPE ${name} ${family.type}`, ...values);
    }
    return lines.length > 0 ? `${lines.join("\n")}\n` : "";
  }

  #family(name: string, help: string, type: Type): Family {
    let family = this.#families.get(name);
    if (!family) {
      family = { help, type, series: new Map(), readers: [] };
      this.#families.set(name, family);
    }
    return family;
  }

  #series<S extends Series>(name: string, help: string, type: Type, labels: MetricLabels, make: () => S): S {
    const { series } = this.#family(name, help, type);
    const key = labelText(labels);
    const known = series.get(key);
    // A name stands for one type, so what is found was made by the same method.
    if (known) return known.series as S;
    const made = make();
    series.set(key, { labels, series: made });
    return made;
  }
}

/**
 * The metrics of several operators as one text. A family has one description in it, and what two operators count alike
 * is told apart by their names: a reader refuses the same series twice.
 */
export function joinMetrics(parts: readonly { readonly operator: string; readonly text: string }[]): string {
  if (parts.length === 1) return parts[0]?.text ?? "";
  const families = new Map<string, string[]>();
  for (const { operator, text } of parts) {
    const told = new Set<string>();
    let family: string[] = [];
    for (const line of text.split("\n")) {
      const [, name] = /^# HELP (\S+)/.exec(line) ?? [];
      if (name !== undefined) {
        if (families.has(name)) told.add(name);
        family = families.get(name) ?? [];
        families.set(name, family);
      }
      const [, described = ""] = /^# \S+ (\S+)/.exec(line) ?? [];
      if (line !== "" && !told.has(described)) family.push(line.startsWith("#") ? line : withOperator(line, operator));
    }
  }
  return [...families.values()]
    .flat()
    .map((line) => `${line}\n`)
    .join("");
}

function withOperator(series: string, operator: string): string {
  const end = series.search(/[{ ]/);
  const name = series.slice(0, end);
  const rest = series.slice(end);
  if (/[{,]operator="/.test(rest)) return series;
  const label = labelText({ operator }).slice(1, -1);
  return rest.startsWith("{") ? `${name}{${label},${rest.slice(1)}` : `${name}{${label}}${rest}`;
}

class CounterSeries implements Counter, Series {
  #value = 0;

  add(amount = 1): void {
    this.#value += amount;
  }

  render(name: string, labels: MetricLabels): string[] {
    return [line(name, labels, this.#value)];
  }
}

class HistogramSeries implements Histogram, Series {
  readonly #bounds: readonly number[];
  /** One more than there are bounds: the last is for whatever is above all of them. */
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let i = 0;
    while (i < bounds.length && value > (bounds[i] as number)) i++;
    this.#counts[i] = (this.#counts[i] as number) + 1;
    this.#sum += value;
  }

  render(name: string, labels: MetricLabels): string[] {
    const lines: string[] = [];
    let total = 0;
    for (const [i, count] of this.#counts.entries()) {
      total += count;
      const le = i < this.#bounds.length ? String(this.#bounds[i]) : "+Inf";
      lines.push(line(`${name}_bucket`, { ...labels, le }, total));
    }
    return [...lines, line(`${name}_sum`, labels, this.#sum), line(`${name}_count`, labels, total)];
  }
}

function line(name: string, labels: MetricLabels, value: number): string {
  return `${name}${labelText(labels)} ${value}`;
}

function labelText(labels: MetricLabels): string {
  const parts = Object.entries(labels).map(([key, value]) => `${key}="${value.replace(/[\\"\n]/g, escapeChar)}"`);
  return parts.length > 0 ? `{${parts.join(",")}}` : "";
}

function escapeChar(char: string): string {
  return char === "\n" ? "\\n" : `\\${char}`;
}
