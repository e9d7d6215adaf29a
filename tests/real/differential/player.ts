import { Agent, type RequestOptions, request } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import type { Json, Script, Step } from "./script.ts";

/** Where a script is played, and as whom. */
export interface Target {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  /** Forgets every version but the present one. */
  readonly compact?: () => Promise<void>;
}

/** What came back for one step. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, Json>>;
  /** Parsed where it is JSON; the list of events for a watch. */
  readonly body: Json;
}

/** A step's answer under the step's name. */
export interface Recorded {
  readonly step: Step;
  readonly answer: Answer;
}

/** A real server may believe for 30 s in what is gone: its LimitRanger keeps for so long what it has looked up. */
const patienceMs = 90_000;
const silenceMs = 250;
const eventPatienceMs = 60_000;

/** Plays a script from its first step to its last; a step's failure is an answer like any other. */
export async function play(script: Script, target: Target): Promise<Recorded[]> {
  const agent = new Agent({ ca: target.ca, keepAlive: true });
  const player = new Player(target, agent);
  try {
    if (script.namespace !== undefined) await player.furnish(script.namespace);
    for (const step of script.steps) await player.play(step);
    return player.record;
  } finally {
    agent.destroy();
  }
}

class Player {
  readonly record: Recorded[] = [];
  readonly #target: Target;
  readonly #agent: Agent;
  readonly #captured = new Map<string, string>();

  constructor(target: Target, agent: Agent) {
    this.#target = target;
    this.#agent = agent;
  }

  /** A namespace, complete with what controllers put into it. */
  async furnish(name: string): Promise<void> {
    this.#captured.set("ns", name);
    await this.#send({
      name: "namespace",
      method: "POST",
      path: "/api/v1/namespaces",
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name } },
    });
    const path = `/api/v1/namespaces/${name}/serviceaccounts/default`;
    await this.#send({ name: "service account", path, until: { status: 200 } });
  }

  async play(step: Step): Promise<void> {
    const answer = await this.#answer(step);
    for (const [name, path] of Object.entries(step.capture ?? {})) {
      const value = at(answer.body, path);
      // A capture that failed must not look like one that worked: the later request then shows where it came from.
      this.#captured.set(name, typeof value === "string" || typeof value === "number" ? String(value) : `no-${name}`);
    }
    this.record.push({ step, answer });
  }

  async #answer(step: Step): Promise<Answer> {
    if (step.compact) {
      await this.#target.compact?.();
      return { status: 0, headers: {}, body: null };
    }
    if (step.steady) return this.#steady(step);
    return step.watch === undefined ? this.#send(step) : this.#watch(step, step.watch);
  }

  async #steady(step: Step): Promise<Answer> {
    const deadline = performance.now() + patienceMs;
    for (let last = "", times = 0; ; ) {
      const answer = await this.#send(step);
      const warnings = JSON.stringify(answer.headers.warning ?? null);
      times = warnings === last ? times + 1 : 1;
      last = warnings;
      if (times === 3 || performance.now() > deadline) return answer;
      await delay(300);
    }
  }

  async #send(step: Step): Promise<Answer> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const answer = await this.#once(step);
      const { until } = step;
      if (until === undefined) return answer;
      const there =
        answer.status === until.status &&
        (until.path === undefined || JSON.stringify(at(answer.body, until.path)) === JSON.stringify(until.is));
      if (there) return answer;
      // What both servers never come to would be compared all the same, and everything after it would show nothing.
      if (performance.now() > deadline) {
        throw new Error(`"${step.name}" waits in vain, last for ${answer.status} ${JSON.stringify(answer.body)}`);
      }
      await delay(25);
    }
  }

  #once(step: Step): Promise<Answer> {
    return new Promise((resolve) => {
      const reject = (error: Error) => resolve({ status: 0, headers: {}, body: error.message });
      const call = request(...this.#request(step), (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({
            status: answer.statusCode ?? 0,
            headers: selected(answer.rawHeaders),
            body: parse(text, answer.headers["content-type"] ?? ""),
          });
        });
      });
      call.setTimeout(30_000, () => call.destroy(new Error(`${step.name}: no answer within 30 s`)));
      call.on("error", reject);
      call.end(this.#body(step));
    });
  }

  async #watch(step: Step, watch: NonNullable<Step["watch"]>): Promise<Answer> {
    const events: Json[] = [];
    let text = "";
    let ended = false;
    const opened = await new Promise<{ status: number; headers: Record<string, Json>; close: () => void }>(
      (resolve, reject) => {
        const [url, options] = this.#request(step);
        const call = request(url, { ...options, agent: new Agent({ ca: this.#target.ca }) }, (answer) => {
          answer.setEncoding("utf8");
          answer.on("data", (chunk: string) => {
            text += chunk;
            if ((answer.statusCode ?? 0) >= 400) return;
            const lines = text.split("\n");
            text = lines.pop() ?? "";
            for (const line of lines) if (line !== "") events.push(parse(line, "application/json"));
          });
          const end = () => {
            ended = true;
          };
          answer.on("end", end).on("error", end).on("close", end);
          resolve({
            status: answer.statusCode ?? 0,
            headers: selected(answer.rawHeaders),
            close: () => call.destroy(),
          });
        });
        call.on("error", reject);
        call.end(this.#body(step));
      },
    );
    try {
      for (const inner of watch.during ?? []) await this.play(inner);
      const deadline = performance.now() + eventPatienceMs;
      while (events.length < watch.events && !ended && performance.now() < deadline) await delay(10);
      if (!ended) await delay(silenceMs);
      const body = opened.status >= 400 ? parse(text, String(opened.headers["content-type"])) : events;
      return { status: opened.status, headers: { ...opened.headers, ended }, body };
    } finally {
      opened.close();
    }
  }

  #request(step: Step): [URL, RequestOptions] {
    const url = new URL(this.#fill(step.path), this.#target.url);
    for (const [key, values] of Object.entries(step.query ?? {})) {
      for (const value of typeof values === "string" ? [values] : values) {
        url.searchParams.append(key, this.#fill(value));
      }
    }
    const headers: Record<string, string> = {
      authorization: `Bearer ${this.#target.token}`,
      accept: step.accept ?? "application/json",
      "user-agent": "differential/1.0",
    };
    const contentType = step.contentType ?? "application/json";
    if (step.body !== undefined && contentType !== "") headers["content-type"] = contentType;
    // Node frames the body of a DELETE only when told how long it is.
    if (step.body !== undefined) headers["content-length"] = String(Buffer.byteLength(this.#body(step) ?? ""));
    for (const [key, value] of Object.entries(step.headers ?? {})) headers[key] = this.#fill(value);
    return [url, { method: step.method ?? "GET", agent: this.#agent, headers }];
  }

  #body(step: Step): string | undefined {
    if (step.body === undefined) return undefined;
    return this.#fill(typeof step.body === "string" ? step.body : JSON.stringify(step.body));
  }

  #fill(text: string): string {
    return text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
      const value = this.#captured.get(name);
      if (value === undefined) throw new Error(`No step before this one captured {{${name}}}.`);
      return value;
    });
  }
}

/** The value at a dotted path; list items by index. */
export function at(value: Json | undefined, path: string): Json | undefined {
  let here: unknown = value;
  for (const key of path.split(".")) {
    if (typeof here !== "object" || here === null) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here as Json | undefined;
}

/** The headers that clients act on. What differs between any two answers (dates, audit ids, lengths) is left out. */
function selected(raw: readonly string[]): Record<string, Json> {
  const headers: Record<string, Json> = {};
  const warnings: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]?.toLowerCase() ?? "";
    const value = raw[i + 1] ?? "";
    if (name === "warning") warnings.push(value);
    else if (name === "etag") headers.etag = "present";
    else if (name === "location") headers.location = value.replace(/hash=[0-9A-F]+/, "hash=<hash>");
    else if (["content-type", "retry-after", "cache-control", "allow"].includes(name)) headers[name] = value;
  }
  if (warnings.length > 0) headers.warning = warnings;
  return headers;
}

function parse(text: string, contentType: string): Json {
  // The real server sends the root of /openapi/v3 as text/plain: what looks like JSON is compared as JSON.
  if (!contentType.includes("json") && !text.startsWith("{")) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
