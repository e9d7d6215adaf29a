/** What is shown of an operator: headings, pictures, queries. Pure. */
import { by, type Monitored, quantile, type Series, seriesOf } from "./monitored.ts";

/** What a panel shows: a query, and what each line of it is called. */
export type Query = readonly [expr: string, legend: string];

/** One picture. */
export interface Panel {
  readonly title: string;
  readonly description: string;
  readonly type?: "timeseries" | "stat";
  readonly unit?: string;
  readonly queries: readonly Query[];
}

/** Panels below one heading. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** The window that fits what is on the screen: Grafana fills it in. */
const WINDOW = "$__rate_interval";

/** The headings with what is below them. */
export function rowsOf(monitored: Monitored): Row[] {
  const series = seriesOf(monitored);
  const { coordination, asked, schedules, objectives } = monitored;
  return [
    overview(monitored, series),
    ...(objectives ? [promises(series)] : []),
    handlers(series),
    queues(series),
    streams(series),
    requests(series),
    ...(coordination === "leader" || coordination === "shards" ? [leases(series)] : []),
    ...(asked ? [webhooks(series)] : []),
    ...(schedules ? [outside(series)] : []),
  ];
}

const rate = (series: string) => `rate(${series}[${WINDOW}])`;
const each = (how: "sum" | "max" | "min", label: string, expression: string): Query => [
  by(how, [label], expression),
  `{{${label}}}`,
];
const quantiles = (label: string, buckets: string): Query[] =>
  [0.5, 0.99].map((q) => [quantile(q, [label], WINDOW, buckets), `{{${label}}} p${q * 100}`]);

function overview({ coordination }: Monitored, series: Series): Row {
  const processes = `count(${by("max", ["pod"], series("lotse_stream_phase"))})`;
  const works = coordination === "leader" ? by("sum", [], series("leader_election_master_status")) : processes;
  return {
    title: "Overview",
    panels: [
      {
        title: "Processes",
        description: "How many there are, and how many work; the others stand by.",
        type: "stat",
        queries: [
          [processes, "there are"],
          [works, "work"],
        ],
      },
      {
        title: "Objects",
        description: "Objects that are known, of each kind.",
        queries: [each("max", "kind", series("lotse_objects"))],
      },
      {
        title: "Turns",
        description: "How many turns of objects there are in a second, by how they end.",
        unit: "ops",
        queries: [each("sum", "result", rate(series("controller_runtime_reconcile_total")))],
      },
    ],
  };
}

function promises(series: Series): Row {
  const changes = (more?: string) => by("sum", ["kind"], rate(series("lotse_objective_changes_total", more)));
  return {
    title: "Objectives",
    panels: [
      {
        title: "In time",
        description: "The share of changes after which objects were ready in the promised time, and what was promised.",
        unit: "percentunit",
        queries: [
          [`${changes('result="good"')} / ${changes()}`, "{{kind}}"],
          [by("max", ["kind"], series("lotse_objective_target")), "{{kind}} promised"],
        ],
      },
      {
        title: "How long it takes to be ready",
        description: "After a change, beside what was promised.",
        unit: "s",
        queries: [
          ...quantiles("kind", series("lotse_objective_ready_seconds_bucket")),
          [by("max", ["kind"], series("lotse_objective_ready_target_seconds")), "{{kind}} promised"],
        ],
      },
      {
        title: "Late now",
        description: "Objects that are not ready although they should be.",
        queries: [each("sum", "kind", series("lotse_objective_late"))],
      },
    ],
  };
}

function handlers(series: Series): Row {
  const runs = series("lotse_handler_runs_total");
  return {
    title: "Handlers",
    panels: [
      {
        title: "Attempts by outcome",
        description: "How many attempts of handlers there are in a second, by what became of them.",
        unit: "ops",
        queries: [each("sum", "outcome", rate(runs))],
      },
      {
        title: "Failures by handler",
        description: "Attempts that failed, in a second.",
        unit: "ops",
        queries: [
          each("sum", "handler", rate(series("lotse_handler_runs_total", 'outcome=~"failed|failed for good"'))),
        ],
      },
      {
        title: "How long handlers take",
        description: "Half of the attempts are faster than p50, all but one in a hundred faster than p99.",
        unit: "s",
        queries: quantiles("handler", series("lotse_handler_seconds_bucket")),
      },
      {
        title: "Loops, and attempts that do not end",
        description: "Handlers that are called by their own changes, and attempts that went on for too long.",
        unit: "ops",
        queries: [
          [by("sum", ["kind"], rate(series("lotse_hot_loops_total"))), "{{kind}} loops"],
          [by("sum", ["handler"], rate(series("lotse_slow_handlers_total"))), "{{handler}} is slow"],
        ],
      },
      {
        title: "Writes",
        description: "Writes of the framework to objects, and records that others took off them.",
        unit: "ops",
        queries: [
          each("sum", "kind", rate(series("lotse_writes_total"))),
          [by("sum", ["kind"], rate(series("lotse_records_restored_total"))), "{{kind}} records put back"],
        ],
      },
      {
        title: "How long turns take",
        description: "Of one object, with all of its handlers and the write.",
        unit: "s",
        queries: quantiles("controller", series("controller_runtime_reconcile_time_seconds_bucket")),
      },
    ],
  };
}

function queues(series: Series): Row {
  return {
    title: "Queue",
    panels: [
      {
        title: "Waiting",
        description: "Objects that wait for their turn, and those that wait for a time.",
        queries: [
          [by("sum", ["controller"], series("workqueue_depth")), "{{controller}} for its turn"],
          [by("sum", ["kind"], series("lotse_queue_delayed")), "{{kind}} for a time"],
        ],
      },
      {
        title: "How long objects wait for their turn",
        description: "From the moment that they have something to do.",
        unit: "s",
        queries: quantiles("controller", series("workqueue_queue_duration_seconds_bucket")),
      },
      {
        title: "Worked on",
        description: "Objects that are worked on, and how many may be at the same time.",
        queries: [
          [by("sum", ["controller"], series("controller_runtime_active_workers")), "{{controller}}"],
          [by("sum", ["controller"], series("controller_runtime_max_concurrent_reconciles")), "{{controller}} at most"],
        ],
      },
      {
        title: "Longest under way",
        description: "For how long the oldest work on one object has gone on.",
        unit: "s",
        queries: [each("max", "controller", series("workqueue_longest_running_processor_seconds"))],
      },
      {
        title: "Given something to do",
        description: "Objects in a second; those whose time had come besides.",
        unit: "ops",
        queries: [
          each("sum", "controller", rate(series("workqueue_adds_total"))),
          [by("sum", ["controller"], rate(series("workqueue_retries_total"))), "{{controller}} by time"],
        ],
      },
    ],
  };
}

function streams(series: Series): Row {
  return {
    title: "Streams",
    panels: [
      {
        title: "Age",
        description: "How long ago each stream has brought something. Servers send a word about every minute.",
        unit: "s",
        queries: [each("max", "kind", series("lotse_stream_last_event_age_seconds"))],
      },
      {
        title: "Interrupted",
        description: "Streams that wait for the server, a right or their kind.",
        queries: [each("sum", "kind", series("lotse_stream_phase", 'phase="waiting"'))],
      },
      {
        title: "Parts of the API that do not answer",
        description: "Their kinds are waited for.",
        queries: [each("max", "pod", series("lotse_broken_api_versions"))],
      },
    ],
  };
}

function requests(series: Series): Row {
  return {
    title: "Requests to the API server",
    panels: [
      {
        title: "By answer",
        description: "In a second, each attempt by itself.",
        unit: "ops",
        queries: [each("sum", "code", rate(series("rest_client_requests_total")))],
      },
      {
        title: "How long they take",
        description: "Their repetitions included.",
        unit: "s",
        queries: quantiles("verb", series("rest_client_request_duration_seconds_bucket")),
      },
      {
        title: "Repetitions",
        description: "Attempts after the first, in a second.",
        unit: "ops",
        queries: [each("sum", "code", rate(series("rest_client_request_retries_total")))],
      },
    ],
  };
}

function leases(series: Series): Row {
  return {
    title: "Coordination",
    panels: [
      {
        title: "Who works",
        description: "1 for a process that holds its Lease.",
        queries: [each("max", "pod", series("leader_election_master_status"))],
      },
      {
        title: "Age of the renewal",
        description: "How long ago the Lease that is held was renewed. Near its limit it is lost.",
        unit: "s",
        queries: [each("max", "pod", series("lotse_lease_renewal_age_seconds"))],
      },
      {
        title: "Renewals that failed",
        description: "And those that met another write, in a second.",
        unit: "ops",
        queries: [
          [by("sum", ["pod"], rate(series("lotse_lease_renewal_failures_total"))), "{{pod}} failed"],
          [by("sum", ["pod"], rate(series("leader_election_slowpath_total"))), "{{pod}} met another write"],
        ],
      },
      {
        title: "Share of the objects",
        description: "How many objects each process works on.",
        queries: [each("sum", "pod", series("lotse_owned_objects"))],
      },
    ],
  };
}

function webhooks(series: Series): Row {
  return {
    title: "Webhooks",
    panels: [
      {
        title: "Requests",
        description: "Of API servers, in a second, by answer.",
        unit: "ops",
        queries: [each("sum", "code", rate(series("controller_runtime_webhook_requests_total")))],
      },
      {
        title: "How long they take",
        description: "Users wait for them.",
        unit: "s",
        queries: quantiles("webhook", series("controller_runtime_webhook_latency_seconds_bucket")),
      },
      {
        title: "Judged",
        description: "Requests that handlers have judged, in a second, by outcome.",
        unit: "ops",
        queries: [each("sum", "outcome", rate(series("lotse_admission_reviews_total")))],
      },
      {
        title: "The certificate is good for",
        description: "It is renewed by itself; what keeps it from that is in the log.",
        type: "stat",
        unit: "s",
        queries: [[by("min", [], series("lotse_webhook_certificate_remaining_seconds")), "left"]],
      },
      {
        title: "Under way",
        description: "Requests that are being answered.",
        queries: [each("sum", "pod", series("controller_runtime_webhook_requests_in_flight"))],
      },
    ],
  };
}

function outside(series: Series): Row {
  return {
    title: "Schedules",
    panels: [
      {
        title: "Runs",
        description: "In a second, by how they ended.",
        unit: "ops",
        queries: [
          [by("sum", ["schedule", "result"], rate(series("lotse_scheduled_runs_total"))), "{{schedule}} {{result}}"],
        ],
      },
    ],
  };
}
