/** Plans are tried by threads, each with a copy of the operator of its own. */
import { once } from "node:events";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { ConfigError, errorMessage } from "@lotse/client/meta";
import type { HarnessOptions } from "../harness-contract.ts";
import { Attempts, type Verdict } from "./attempts.ts";
import type { Plan } from "./plans.ts";
import { loadSubject, type SubjectModule } from "./subject.ts";

/** What a thread is told at its start. */
export interface ThreadSettings extends SubjectModule {
  readonly seed: number;
  readonly harness: Omit<HarnessOptions, "clock">;
  readonly ignore: readonly string[];
}

type Answer = { readonly verdict: Verdict } | { readonly error: string };

/** A thread that tries plans, one after another. */
export class Thread {
  readonly #worker: Worker;
  readonly #gone: Promise<never>;

  constructor(settings: ThreadSettings) {
    try {
      this.#worker = new Worker(new URL(import.meta.resolve("@lotse/testing/explore-thread")), {
        workerData: settings,
      });
    } catch (cause) {
      throw new ConfigError(`explore cannot start a thread: ${errorMessage(cause)}`, {
        cause,
        hint: "options of the harness that are functions cannot be told to a thread: { workers: 0 } does without",
      });
    }
    this.#gone = once(this.#worker, "exit").then(() => {
      throw new Error("a thread of explore has ended before its time");
    });
    // Told by whoever waits for an answer.
    this.#gone.catch(() => {});
  }

  /** Tries a plan. Rejects when the thread cannot do its work, such as one that cannot load the module. */
  async attempt(plan: Plan): Promise<Verdict> {
    this.#worker.postMessage(plan);
    const over = new AbortController();
    try {
      const answered = once(this.#worker, "message", { signal: over.signal }) as Promise<[Answer]>;
      const [answer] = await Promise.race([answered, this.#gone]);
      if ("error" in answer) throw new Error(answer.error);
      return answer.verdict;
    } finally {
      over.abort();
    }
  }

  /** Ends it, whatever it does. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** The other end: what a thread does. */
export function serveThread(): void {
  const port = parentPort;
  if (!port)
    throw new ConfigError("this module is for the threads of explore", { hint: "import @lotse/testing instead" });
  const settings = workerData as ThreadSettings;
  const attempts = loadSubject(new URL(settings.url), settings.scenario).then(
    ({ operator, scenario }) => new Attempts({ ...settings, operator, scenario }),
  );
  // Told with the first plan.
  attempts.catch(() => {});
  port.on("message", (plan: Plan) => {
    const answer: Promise<Answer> = attempts
      .then((made) => made.attempt(plan))
      .then(
        (verdict) => ({ verdict }),
        (error: unknown) => ({ error: errorMessage(error) }),
      );
    void answer.then((message) => port.postMessage(message));
  });
}
