/** What is measured of requests, under the names that controller-runtime uses where the meaning is the same. */
import type { ReviewOutcome } from "../admission/index.ts";
import type { AdmissionHandler } from "../declare/index.ts";
import type { Counter, Histogram, Metrics, WebhookHealth } from "../report/index.ts";

/** See the module comment. */
export class WebhookMeasures {
  readonly #metrics: Metrics;
  readonly #requests = new Map<string, Counter>();
  readonly #seconds = new Map<string, Histogram>();
  readonly #reviews = new Map<string, Counter>();

  constructor(metrics: Metrics, health: () => WebhookHealth | undefined) {
    this.#metrics = metrics;
    metrics.gauge("controller_runtime_webhook_requests_in_flight", "Requests that are being answered.", () => {
      const webhooks = health();
      return webhooks?.serving === undefined ? [] : [[{}, webhooks.inFlight]];
    });
  }

  /** The server has answered a request. */
  answered(status: number, ms: number, path: string | undefined): void {
    const webhook = path ?? "none";
    const key = `${webhook} ${status}`;
    let requests = this.#requests.get(key);
    if (!requests) {
      requests = this.#metrics.counter("controller_runtime_webhook_requests_total", "Requests of API servers.", {
        webhook,
        code: String(status),
      });
      this.#requests.set(key, requests);
    }
    requests.add();
    let seconds = this.#seconds.get(webhook);
    if (!seconds) {
      seconds = this.#metrics.histogram("controller_runtime_webhook_latency_seconds", "How long answers take.", {
        webhook,
      });
      this.#seconds.set(webhook, seconds);
    }
    seconds.observe(ms / 1_000);
  }

  /** A handler has judged a request. */
  reviewed({ id, type }: Pick<AdmissionHandler, "id" | "type">, outcome: ReviewOutcome): void {
    const key = `${type} ${id} ${outcome}`;
    let reviews = this.#reviews.get(key);
    if (!reviews) {
      const labels = { handler: id, type, outcome };
      reviews = this.#metrics.counter("lotse_admission_reviews_total", "Requests that handlers have judged.", labels);
      this.#reviews.set(key, reviews);
    }
    reviews.add();
  }
}
