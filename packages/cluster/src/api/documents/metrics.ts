import type { ApiRequest } from "../exchange.ts";
import { type ApiResponse, textResponse } from "../exchange.ts";
import type { RequestInfo } from "../request-info.ts";
import { KUBERNETES_VERSION } from "./health.ts";

/** What the process as a whole uses. */
export interface ProcessUsage {
  /** When it started, in seconds since 1970. */
  readonly started: number;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
}

/** How many objects of a kind are there. */
export interface ObjectCount {
  readonly group: string;
  readonly plural: string;
  readonly count: number;
}

/** In seconds: the upper ends of the classes into which requests are sorted by how long they took. */
const BUCKETS = [
  ...[0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60],
];

interface Durations {
  readonly classes: number[];
  count: number;
  sum: number;
}

const READS: ReadonlySet<string> = new Set(["get", "list", "watch", "head"]);
const VERBS: Readonly<Record<string, string>> = {
  get: "GET",
  head: "GET",
  list: "LIST",
  watch: "WATCH",
  create: "POST",
  post: "POST",
  update: "PUT",
  put: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETECOLLECTION",
};
const CONNECTS: ReadonlySet<string> = new Set(["exec", "attach", "portforward", "proxy"]);
/** Pages that are counted by their path. */
const PAGES: ReadonlySet<string> = new Set(["healthz", "livez", "readyz"]);

/** Counts requests, and how long they take: two entries of a table for each, and nothing is written down until asked. */
export class Metrics {
  readonly #now: () => number;
  readonly #requests = new Map<string, number>();
  readonly #durations = new Map<string, Durations>();
  readonly #inFlight = { readOnly: 0, mutating: 0 };

  /** `now` in milliseconds, of a clock that never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * A request has come, about something that there is or not; the answer is to be called with the status of the answer.
   */
  begin(request: ApiRequest, info: RequestInfo, served: boolean): (status: number) => void {
    const start = this.#now();
    const kind = READS.has(info.verb) ? "readOnly" : "mutating";
    this.#inFlight[kind]++;
    return (status) => {
      this.#inFlight[kind]--;
      const labels = labelsOf(request, info, served);
      const counted = `code="${status}",${labels}`;
      this.#requests.set(counted, (this.#requests.get(counted) ?? 0) + 1);
      // Streams last as long as the client looks.
      if (info.verb !== "watch") this.#measure(labels, (this.#now() - start) / 1_000);
    };
  }

  #measure(labels: string, seconds: number): void {
    let durations = this.#durations.get(labels);
    if (!durations) {
      durations = { classes: new Array<number>(BUCKETS.length).fill(0), count: 0, sum: 0 };
      this.#durations.set(labels, durations);
    }
    durations.count++;
    durations.sum += seconds;
    const index = BUCKETS.findIndex((bound) => seconds <= bound);
    if (index >= 0) durations.classes[index] = (durations.classes[index] ?? 0) + 1;
  }

  /** Everything in the text format of Prometheus. */
  *lines(): Generator<string> {
    const { readOnly, mutating } = this.#inFlight;
    yield* head(
      "apiserver_current_inflight_requests",
      "gauge",
      "[STABLE] Requests that are being answered, by whether they change something.",
    );
    yield `apiserver_current_inflight_requests{request_kind="mutating"} ${mutating}`;
    yield `apiserver_current_inflight_requests{request_kind="readOnly"} ${readOnly}`;
    yield* head(
      "apiserver_request_duration_seconds",
      "histogram",
      "[STABLE] How long answers took, without watches, by verb and resource.",
    );
    for (const [labels, { classes, count, sum }] of sorted(this.#durations)) {
      let below = 0;
      for (const [i, bound] of BUCKETS.entries()) {
        below += classes[i] ?? 0;
        yield `apiserver_request_duration_seconds_bucket{${labels},le="${bound}"} ${below}`;
      }
      yield `apiserver_request_duration_seconds_bucket{${labels},le="+Inf"} ${count}`;
      yield `apiserver_request_duration_seconds_sum{${labels}} ${sum}`;
      yield `apiserver_request_duration_seconds_count{${labels}} ${count}`;
    }
    yield* head("apiserver_request_total", "counter", "[STABLE] Answered requests, by verb, resource and status.");
    for (const [labels, count] of sorted(this.#requests)) yield `apiserver_request_total{${labels}} ${count}`;
  }
}

/** What distinguishes requests. Only what the server knows gets in, so that no client can fill the table with paths. */
function labelsOf({ query }: ApiRequest, { verb, target, segments }: RequestInfo, served: boolean): string {
  // A resource that there is not is counted as none.
  const known = served ? target : undefined;
  const { group = "", version = "", resource = "", subresource = "" } = known ?? {};
  const page = PAGES.has(segments[0] ?? "") ? `/${segments[0]}` : "";
  const scope =
    known === undefined
      ? ""
      : known.name !== undefined || verb === "create"
        ? "resource"
        : known.namespace === undefined
          ? "cluster"
          : "namespace";
  const shown = CONNECTS.has(subresource) ? "CONNECT" : Object.hasOwn(VERBS, verb) ? VERBS[verb] : "other";
  const asked = query.getAll("dryRun");
  const dryRun = asked.length === 0 ? "" : asked.every((value) => value === "All") ? "All" : "invalid";
  const labels = { component: "apiserver", dry_run: dryRun, group, resource, scope, subresource: subresource || page };
  return [...Object.entries(labels), ["verb", shown], ["version", version]]
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(",");
}

const sorted = <T>(table: ReadonlyMap<string, T>): [string, T][] => [...table].sort(([a], [b]) => (a < b ? -1 : 1));

function* head(name: string, type: string, help: string): Generator<string> {
  yield `# HELP ${name} ${help}`;
  yield `# TYPE ${name} ${type}`;
}

function* objectLines(objects: readonly ObjectCount[]): Generator<string> {
  const ordered = [...objects].sort((a, b) => (`${a.group}/${a.plural}` < `${b.group}/${b.plural}` ? -1 : 1));
  yield* head("apiserver_resource_objects", "gauge", "[ALPHA] Stored objects, by resource.");
  for (const { group, plural, count } of ordered) {
    yield `apiserver_resource_objects{group="${group}",resource="${plural}"} ${count}`;
  }
  yield* head("apiserver_storage_objects", "gauge", "[STABLE] Stored objects, by resource.");
  for (const { group, plural, count } of ordered) {
    const name = group === "" ? plural : `${plural}.${group}`;
    yield `apiserver_storage_objects{resource="${name}"} ${count}`;
  }
}

function* machineLines({ started, cpuSeconds, residentBytes, heapBytes }: ProcessUsage): Generator<string> {
  const gauges = [
    ["process_cpu_seconds_total", "counter", "Time that the process has computed, in seconds.", cpuSeconds],
    ["process_heap_bytes", "gauge", "Memory of objects of JavaScript in use, in bytes.", heapBytes],
    ["process_resident_memory_bytes", "gauge", "Memory of the process, in bytes.", residentBytes],
    ["process_start_time_seconds", "gauge", "When the process started, in seconds since 1970.", started],
  ] as const;
  for (const [name, type, help, value] of gauges) {
    yield* head(name, type, help);
    yield `${name} ${value}`;
  }
}

function* buildLines(): Generator<string> {
  const [major = "", minor = ""] = KUBERNETES_VERSION.slice(1).split(".");
  yield* head("kubernetes_build_info", "gauge", "[BETA] Always 1; the labels tell the version.");
  yield `kubernetes_build_info{git_version="${KUBERNETES_VERSION}+lotse",major="${major}",minor="${minor}"} 1`;
}

/** `/metrics`. */
export function metricsResponse(
  metrics: Metrics,
  objects: readonly ObjectCount[],
  machine: ProcessUsage | undefined,
): ApiResponse {
  const lines = [
    ...metrics.lines(),
    ...objectLines(objects),
    ...buildLines(),
    ...(machine ? machineLines(machine) : []),
    "",
  ];
  return textResponse(200, lines.join("\n"), {
    "content-type": "text/plain; version=0.0.4; charset=utf-8; escaping=underscores",
    "cache-control": "no-cache, private",
  });
}
