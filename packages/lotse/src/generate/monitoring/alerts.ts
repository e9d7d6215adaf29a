/** The alerts of an operator: what a person has to hear of, and what they can do about it. Pure. */
import { burnRates } from "./burn-rates.ts";
import { by, type Monitored, quantile, type Series, seriesOf, share } from "./monitored.ts";
import type { AlertRule, RuleGroup, Severity } from "./rules.ts";

/** Of what a rule is made; `todo` is the first thing that helps. */
interface Draft {
  readonly alert: string;
  readonly severity: Severity;
  readonly expr: string;
  readonly for: string;
  readonly summary: string;
  readonly todo: string;
}

const [HOUR_S, DAY_S] = [3_600, 86_400];

/** The groups of rules, in the order in which people read them. */
export function alertGroups(monitored: Monitored): RuleGroup[] {
  const series = seriesOf(monitored);
  const drafts: readonly (readonly [group: string, drafts: readonly Draft[]])[] = [
    ["presence", presence(monitored, series)],
    ["streams", streams(series)],
    ["work", work(series)],
    ["requests", requests(series)],
    ["coordination", coordination(monitored, series)],
    ["webhooks", monitored.asked ? webhooks(series) : []],
    ["schedules", monitored.schedules ? schedules(series) : []],
  ];
  const { name } = monitored;
  const groups: RuleGroup[] = drafts
    .filter(([, some]) => some.length > 0)
    .map(([group, some]) => ({ name: `${name}.${group}`, rules: some.map((draft) => ruleOf(draft, monitored)) }));
  if (!monitored.objectives) return groups;
  const { records, alerts } = burnRates(monitored);
  return [...groups, { name: `${name}.burn-rates`, rules: records }, { name: `${name}.objectives`, rules: alerts }];
}

/** An alert with what every one of them has. */
function ruleOf({ alert, severity, expr, for: during, summary, todo }: Draft, { name }: Monitored): AlertRule {
  return {
    alert,
    expr,
    for: during,
    labels: { operator: name, severity },
    annotations: { summary: `${name}: ${summary}`, description: `What to do: ${todo}` },
  };
}

function presence({ name }: Monitored, series: Series): Draft[] {
  return [
    {
      alert: "LotseOperatorAbsent",
      severity: "critical",
      expr: `absent(${series("lotse_stream_phase")})`,
      for: "10m",
      summary: "no process of the operator shows metrics",
      todo: `see whether it runs, kubectl get pods -l app.kubernetes.io/name=${name}, and whether it is scraped.`,
    },
  ];
}

function streams(series: Series): Draft[] {
  const labels = ["pod", "kind"];
  return [
    {
      alert: "LotseStreamOld",
      severity: "warning",
      // Servers send a bookmark about every minute, and a silent stream is opened again after a minute and a half.
      expr: `${by("max", labels, series("lotse_stream_last_event_age_seconds"))} > 300`,
      for: "5m",
      summary: "the stream of {{ $labels.kind }} has brought nothing for {{ $value | humanizeDuration }}",
      todo: "look at /status of {{ $labels.pod }}, which says what the stream waits for.",
    },
    {
      alert: "LotseStreamInterrupted",
      severity: "warning",
      expr: `${by("max", labels, series("lotse_stream_phase", 'phase="waiting"'))} == 1`,
      for: "10m",
      summary: "the stream of {{ $labels.kind }} is interrupted: changes are not seen",
      todo: "look at /readyz of {{ $labels.pod }}: a right that is missing, a kind that is not installed, or a server that does not answer.",
    },
    {
      alert: "LotseApiBroken",
      severity: "info",
      expr: `${by("max", ["pod"], series("lotse_broken_api_versions"))} > 0`,
      for: "30m",
      summary: "{{ $value }} parts of the API do not answer, their kinds are waited for",
      todo: "kubectl get apiservices shows which are not available.",
    },
  ];
}

function work(series: Series): Draft[] {
  const handler = ["kind", "handler"];
  const failed = series("lotse_handler_runs_total", 'outcome=~"failed|failed for good"');
  const gone = series("lotse_handler_runs_total", 'outcome="failed for good"');
  return [
    {
      alert: "LotseHandlerFailures",
      severity: "warning",
      expr: `${share(handler, "10m", failed, series("lotse_handler_runs_total"))} > 0.2`,
      for: "15m",
      summary: "{{ $value | humanizePercentage }} of the attempts of {{ $labels.handler }} fail",
      todo: "search the log for handler={{ $labels.handler }} at warn and error; lotse explain tells of one object.",
    },
    {
      alert: "LotseHandlerFailedForGood",
      severity: "warning",
      expr: `${by("sum", handler, `increase(${gone}[15m])`)} > 0`,
      for: "0s",
      summary: "{{ $labels.handler }} has given up on objects of the kind {{ $labels.kind }}",
      todo: "kubectl get events --field-selector reason=HandlerFailed -A names them; mend the cause, then lotse retry.",
    },
    {
      alert: "LotseTurnsFail",
      severity: "warning",
      expr: `${by("sum", ["controller"], `rate(${series("controller_runtime_reconcile_errors_total")}[10m])`)} > 0`,
      for: "15m",
      summary: "the framework cannot end its work on objects of {{ $labels.controller }}",
      todo: "look for the event WorkFailed: a filter that throws, or a patch that the server refuses.",
    },
    {
      alert: "LotseQueueOld",
      severity: "warning",
      expr: `${quantile(0.99, ["controller"], "10m", series("workqueue_queue_duration_seconds_bucket"))} > 30`,
      for: "15m",
      summary: "objects of {{ $labels.controller }} wait {{ $value | humanizeDuration }} for their turn",
      todo: "raise concurrency, make handlers faster, or share the objects: --coordination shards.",
    },
    {
      alert: "LotseHandlerStuck",
      severity: "warning",
      expr: `${by("max", ["pod", "controller"], series("workqueue_longest_running_processor_seconds"))} > 600`,
      for: "5m",
      summary: "work on one object of {{ $labels.controller }} has gone on for {{ $value | humanizeDuration }}",
      todo: "search the log for the handler that has not ended; give it a timeout.",
    },
    {
      alert: "LotseHotLoop",
      severity: "warning",
      expr: `${by("sum", ["kind"], `increase(${series("lotse_hot_loops_total")}[15m])`)} > 0`,
      for: "0s",
      summary: "handlers of {{ $labels.kind }} are called by their own changes again and again",
      todo: "kubectl get events --field-selector reason=HotLoop -A names the objects and the fields that change.",
    },
  ];
}

function requests(series: Series): Draft[] {
  const failed = series("rest_client_requests_total", 'code=~"5..|429|<error>"');
  return [
    {
      alert: "LotseRequestsFail",
      severity: "warning",
      expr: `${share([], "10m", failed, series("rest_client_requests_total"))} > 0.1`,
      for: "15m",
      summary: "{{ $value | humanizePercentage }} of the requests to the API server fail",
      todo: "look after the API server; 429 says that it is asked too much, which flow schemas can change.",
    },
  ];
}

function coordination({ coordination: type }: Monitored, series: Series): Draft[] {
  if (type !== "leader" && type !== "shards") return [];
  const renewal: Draft = {
    alert: "LotseLeaseNotRenewed",
    severity: "warning",
    expr: `${by("sum", ["pod"], `increase(${series("lotse_lease_renewal_failures_total")}[10m])`)} > 3`,
    for: "0s",
    summary: "{{ $labels.pod }} can hardly renew its Lease",
    todo: "look after the API server, and after the CPU that the pod gets: a Lease that is not renewed in time is lost.",
  };
  if (type === "shards") return [renewal];
  const held = series("leader_election_master_status");
  return [
    {
      alert: "LotseNobodyLeads",
      severity: "critical",
      expr: `${by("max", ["name"], held)} == 0`,
      for: "2m",
      summary: "no process holds the Lease {{ $labels.name }}: nothing is worked on",
      todo: "the log of each pod says why it cannot take it; kubectl describe lease {{ $labels.name }} says who had it.",
    },
    {
      alert: "LotseLeaseMoves",
      severity: "warning",
      expr: `${by("sum", ["name"], `changes(${held}[30m])`)} > 6`,
      for: "0s",
      summary: "the Lease {{ $labels.name }} goes from process to process",
      todo: "search the logs for “the Lease is lost”: pods that are restarted, or an API server that is too slow for its times.",
    },
    renewal,
  ];
}

function webhooks(series: Series): Draft[] {
  const remaining = by("min", ["pod"], series("lotse_webhook_certificate_remaining_seconds"));
  const requests = "controller_runtime_webhook_requests_total";
  const certificate = { todo: "the log says why it is not renewed; /readyz of {{ $labels.pod }} names the trouble." };
  return [
    {
      alert: "LotseCertificateEndsSoon",
      severity: "warning",
      expr: `${remaining} < ${7 * DAY_S}`,
      for: "15m",
      summary: "the certificate of the webhook server ends in {{ $value | humanizeDuration }}",
      ...certificate,
    },
    {
      alert: "LotseCertificateEnds",
      severity: "critical",
      expr: `${remaining} < ${12 * HOUR_S}`,
      for: "5m",
      summary: "the certificate of the webhook server ends in {{ $value | humanizeDuration }}: then writes are refused",
      ...certificate,
    },
    {
      alert: "LotseWebhookErrors",
      severity: "critical",
      expr: `${share(["webhook"], "10m", series(requests, 'code=~"4..|5.."'), series(requests))} > 0.05`,
      for: "10m",
      summary:
        "{{ $value | humanizePercentage }} of the requests to {{ $labels.webhook }} are not answered as they should be",
      todo: "search the log for the path: while it fails, API servers may refuse what users write.",
    },
    {
      alert: "LotseAdmissionFails",
      severity: "warning",
      expr: `${by("sum", ["handler"], `increase(${series("lotse_admission_reviews_total", 'outcome="failed"')}[15m])`)} > 0`,
      for: "0s",
      summary: "{{ $labels.handler }} fails at requests instead of judging them",
      todo: "search the log for handler={{ $labels.handler }} at error.",
    },
    {
      alert: "LotseWebhookSlow",
      severity: "warning",
      expr: `${quantile(0.99, ["webhook"], "10m", series("controller_runtime_webhook_latency_seconds_bucket"))} > 2`,
      for: "15m",
      summary: "users wait {{ $value | humanizeDuration }} for {{ $labels.webhook }}",
      todo: "keep what handlers of requests look at in an index, and do not ask other services in them.",
    },
  ];
}

function schedules(series: Series): Draft[] {
  const failed = series("lotse_scheduled_runs_total", 'result="failed"');
  return [
    {
      alert: "LotseScheduleFails",
      severity: "warning",
      expr: `${by("sum", ["schedule"], `increase(${failed}[1h])`)} > 0`,
      for: "0s",
      summary: "the schedule {{ $labels.schedule }} has failed",
      todo: "search the log for handler={{ $labels.schedule }} at error.",
    },
  ];
}
