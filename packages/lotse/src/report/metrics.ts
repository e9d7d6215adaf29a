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

type Reader = () => Iterable<Reading>;

/** How the values of several who say the same of the same thing become one: a reader refuses the same series twice. */
type Combine = (a: number, b: number) => number;

interface Family {
  readonly help: string;
  readonly type: Type;
  readonly combine: Combine;
  readonly series: Map<string, Labelled<Series>>;
  /** Asked when the metrics are read. */
  readonly readers: Set<Reader>;
}

/** A series and what it is about. */
interface Labelled<S extends Series> {
  readonly labels: MetricLabels;
  readonly series: S;
  /** How many parts use it; with the last of them it goes. */
  users: number;
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
 * the sake of what is counted a thousand times a second; gauges are only asked for when the metrics are read.
 *
 * @example
 * ```ts
 * const runs = metrics.counter("lotse_handler_runs_total", "Attempts of handlers.", { kind: "Machine" });
 * runs.add();
 * ```
 */
export class Metrics {
  readonly #families: Map<string, Family>;
  /** What a part has to give back. */
  readonly #held: Map<string, () => void> | undefined;

  constructor(whole?: Metrics) {
    this.#families = whole ? whole.#families : new Map<string, Family>();
    this.#held = whole && new Map();
  }

  /**
   * Metrics of something that may go before the operator does, such as a kind: they are part of these, until `close`
   * takes away what no other part counts in.
   */
  part(): Metrics {
    return new Metrics(this);
  }

  /** The part is over. */
  close(): void {
    for (const release of this.#held?.values() ?? []) release();
    this.#held?.clear();
  }

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

  /**
   * `read` is called each time that the metrics are read. Several may share a name; values of the same labels are
   * added, unless `combine` says otherwise.
   */
  gauge(name: string, help: string, read: Reader, combine: Combine = (a, b) => a + b): void {
    const { readers } = this.#family(name, help, "gauge", combine);
    readers.add(read);
    this.#held?.set(`${name} ${this.#held.size}`, () => readers.delete(read));
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
      for (const [labels, value] of readings(family)) values.push(line(name, labels, value));
      if (values.length > 0) lines.push(`# HELP ${name} ${family.help}`, `# TYPE ${name} ${family.type}`, ...values);
    }
    return lines.length > 0 ? `${lines.join("\n")}\n` : "";
  }

  #family(name: string, help: string, type: Type, combine: Combine = (a) => a): Family {
    let family = this.#families.get(name);
    if (!family) {
      family = { help, type, combine, series: new Map(), readers: new Set() };
      this.#families.set(name, family);
    }
    return family;
  }

  #series<S extends Series>(name: string, help: string, type: Type, labels: MetricLabels, make: () => S): S {
    const { series } = this.#family(name, help, type);
    const key = labelText(labels);
    let labelled = series.get(key);
    if (!labelled) {
      labelled = { labels, series: make(), users: 0 };
      series.set(key, labelled);
    }
    this.#use(`${name}${key}`, labelled, () => series.delete(key));
    // A name stands for one type, so what is found was made by the same method.
    return labelled.series as S;
  }

  /** What the whole itself counts in is never given back. */
  #use(what: string, labelled: Labelled<Series>, remove: () => void): void {
    if (!this.#held) labelled.users = Number.POSITIVE_INFINITY;
    else if (!this.#held.has(what)) {
      labelled.users++;
      this.#held.set(what, () => {
        labelled.users--;
        if (labelled.users === 0) remove();
      });
    }
  }
}

function readings({ readers, combine }: Family): Iterable<Reading> {
  const values = new Map<string, Reading>();
  for (const read of readers) {
    for (const [labels, value] of read()) {
      const key = labelText(labels);
      const known = values.get(key);
      values.set(key, [labels, known ? combine(known[1], value) : value]);
    }
  }
  return values.values();
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
