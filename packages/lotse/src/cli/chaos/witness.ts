/** Sees what an operator does while harm is done to it, and says what broke. Pure, but for the time that it is told. */
import type { ChaosEvent, ChaosRequest } from "../local-cluster/index.ts";
import { faultText } from "./fault-text.ts";

/** Something that an operator should not do. */
export interface Finding {
  readonly type: "died" | "hot loop" | "gave up watching" | "never tried again" | "duplicates";
  readonly what: string;
}

/** One life of the command. */
export interface CommandLife {
  readonly startedMs: number;
  endedMs?: number | undefined;
  code?: number | null | undefined;
  signal?: string | null | undefined;
  /** What ended it: a rule, the end of it all, or nobody but itself. */
  end?: "killed" | "stopped" | "itself" | undefined;
  /** The last harm that was done before it died. */
  lastFault?: string | undefined;
}

/** What was seen. */
export interface ChaosReport {
  readonly requests: number;
  readonly writes: number;
  /** The most requests of one sort in a second, over three seconds. */
  readonly peak: { readonly perSecond: number; readonly request: string };
  readonly injected: readonly { readonly fault: string; readonly request: string; readonly count: number }[];
  readonly lives: readonly CommandLife[];
  /** From the end of the harm until everything was as before; undefined: it never was. */
  readonly recoveredMs: number | undefined;
  readonly findings: readonly Finding[];
  readonly unreachable: string | undefined;
}

/** More of one request in a second, over several seconds, is a loop that only costs. */
const HOT_PER_SECOND = 20;
const HOT_SECONDS = 3;

/** Faults after which the operator does not know, or knows wrongly, whether a write was done. */
const UNDONE = new Set(["answer", "reset", "lose", "halve", "mute", "kill"]);
/** What is told of by itself, or said again anyway. */
const UNCOUNTED = new Set(["events", "leases"]);

interface Wound {
  readonly atMs: number;
  readonly request: ChaosRequest;
  healedMs: number | undefined;
}

/** What is watched, by its kind and place. */
interface Watched {
  open: number;
  /** When the harm ended nobody watched it: since when somebody does again. */
  again?: { atMs: number | undefined } | undefined;
}

/** See the module comment. */
export class Witness {
  readonly lives: CommandLife[] = [];
  readonly #now: () => number;
  readonly #injected = new Map<string, { readonly fault: string; readonly request: string; count: number }>();
  /** How often something was asked for, by second. */
  readonly #rates = new Map<string, Map<number, number>>();
  readonly #wounds = new Map<string, Wound>();
  readonly #watches = new Map<string, Watched>();
  readonly #opened = new WeakSet<ChaosRequest>();
  /** Creations that the server has carried out, by what they say. */
  readonly #created = new Map<string, { readonly request: ChaosRequest; count: number; lost: boolean }>();
  readonly #faulty = new WeakMap<ChaosRequest, string>();
  #requests = 0;
  #writes = 0;
  #harmEndMs: number | undefined;
  #lastFault: string | undefined;
  #unreachable: string | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly hear = (event: ChaosEvent): void => {
    const { request } = event;
    switch (event.type) {
      case "request":
        this.#requests++;
        if (request.write) this.#writes++;
        this.#count(request);
        return;
      case "fault":
        this.#fault(request, event.fault);
        return;
      case "answer":
        this.#answer(request, event.status);
        return;
      case "watch ended": {
        const watch = this.#watches.get(watchKey(request));
        if (watch && this.#opened.delete(request)) watch.open--;
        return;
      }
      case "unreachable":
        this.#unreachable ??= event.error.message;
        return;
      default:
    }
  };

  /** No harm is done any more. */
  harmEnds(): void {
    this.#harmEndMs ??= this.#now();
    for (const watch of this.#watches.values()) if (watch.open <= 0) watch.again = { atMs: undefined };
  }

  /** The last thing that was done to it, in words. */
  get lastFault(): string | undefined {
    return this.#lastFault;
  }

  /** `isRunning`: the command is at work, so that whatever it does not do is its own decision. */
  report({ isRunning }: { readonly isRunning: boolean }): ChaosReport {
    const peak = this.#peak();
    return {
      requests: this.#requests,
      writes: this.#writes,
      peak,
      injected: [...this.#injected.values()].sort((a, b) => b.count - a.count),
      lives: this.lives,
      recoveredMs: this.#recoveredMs(),
      findings: this.#findings(peak, isRunning),
      unreachable: this.#unreachable,
    };
  }

  #count(request: ChaosRequest): void {
    const second = Math.floor(this.#now() / 1_000);
    const seconds = this.#rates.get(request.label) ?? new Map<number, number>();
    seconds.set(second, (seconds.get(second) ?? 0) + 1);
    this.#rates.set(request.label, seconds);
  }

  #fault(request: ChaosRequest, fault: string): void {
    this.#faulty.set(request, fault);
    this.#lastFault = `"${faultText(fault)}: ${request.label}"`;
    const what = request.resource === "" ? request.label : `${request.verb} ${request.resource}`;
    const key = `${fault} ${what}`;
    const before = this.#injected.get(key);
    if (before) before.count++;
    else this.#injected.set(key, { fault, request: what, count: 1 });
    if (request.write && UNDONE.has(fault) && !UNCOUNTED.has(request.resource)) {
      const wound = { atMs: this.#now(), request, healedMs: undefined };
      this.#wounds.set(objectOf(request), wound);
    }
  }

  #answer(request: ChaosRequest, status: number): void {
    const fault = this.#faulty.get(request);
    if (request.verb === "watch" && status < 400) {
      const watch = this.#watches.get(watchKey(request)) ?? { open: 0 };
      watch.open++;
      if (watch.again) watch.again.atMs ??= this.#now();
      this.#watches.set(watchKey(request), watch);
      this.#opened.add(request);
    }
    if (request.verb === "create" && status === 201) this.#create(request, fault);
    // Conflicts and refusals are answers, too: it has tried, and knows how things are.
    if (!request.write || (fault !== undefined && UNDONE.has(fault))) return;
    const wound = this.#wounds.get(objectOf(request));
    if (wound) wound.healedMs ??= this.#now();
  }

  /** Objects that are named by the server: with a name of their own they could not be made twice. */
  #create(request: ChaosRequest, fault: string | undefined): void {
    const body = request.body as { metadata?: { name?: string; generateName?: string } } | undefined;
    if (!body?.metadata?.generateName || body.metadata.name || UNCOUNTED.has(request.resource)) return;
    const key = `${request.namespace} ${request.resource} ${JSON.stringify(body)}`;
    const lost = fault === "lose" || fault === "halve" || fault === "kill";
    const before = this.#created.get(key);
    this.#created.set(key, { request, count: (before?.count ?? 0) + 1, lost: (before?.lost ?? false) || lost });
  }

  #peak(): ChaosReport["peak"] {
    let most = { perSecond: 0, request: "" };
    for (const [request, seconds] of this.#rates) {
      for (const second of seconds.keys()) {
        let sum = 0;
        for (let i = 0; i < HOT_SECONDS; i++) sum += seconds.get(second + i) ?? 0;
        const perSecond = Math.round((sum / HOT_SECONDS) * 10) / 10;
        if (perSecond > most.perSecond) most = { perSecond, request };
      }
    }
    return most;
  }

  #recoveredMs(): number | undefined {
    const since = this.#harmEndMs ?? this.#now();
    const open = [...this.#wounds.values()].some(({ healedMs }) => healedMs === undefined);
    const blind = [...this.#watches.values()].some((watch) => watch.open <= 0);
    if (open || blind) return undefined;
    const times = [
      ...[...this.#wounds.values()].map(({ healedMs }) => healedMs ?? since),
      ...[...this.#watches.values()].map(({ again }) => again?.atMs ?? since),
    ];
    return Math.round(Math.max(since, ...times) - since);
  }

  #findings(peak: ChaosReport["peak"], isRunning: boolean): Finding[] {
    const findings: Finding[] = [];
    for (const { end, code, signal, startedMs, endedMs = startedMs, lastFault } of this.lives) {
      if (end !== "itself" || code === 0) continue;
      const how = code === null || code === undefined ? `by ${signal}` : `with exit code ${code}`;
      const after = lastFault === undefined ? "" : `; the last harm was ${lastFault}`;
      findings.push({ type: "died", what: `it ended by itself ${how} after ${seconds(endedMs - startedMs)}${after}` });
    }
    if (peak.perSecond > HOT_PER_SECOND) {
      findings.push({ type: "hot loop", what: `${peak.perSecond} requests a second: ${peak.request}` });
    }
    for (const [key, { open }] of isRunning ? this.#watches : []) {
      if (open <= 0) findings.push({ type: "gave up watching", what: `${key} is not watched any more` });
    }
    for (const { healedMs, request } of this.#wounds.values()) {
      if (healedMs !== undefined) continue;
      findings.push({
        type: "never tried again",
        what: `${request.label} failed, and nothing was written there later`,
      });
    }
    for (const { count, lost, request } of this.#created.values()) {
      if (!lost || count < 2) continue;
      findings.push({
        type: "duplicates",
        what: `${count} objects instead of one: ${request.label}, after a lost answer`,
      });
    }
    return findings;
  }
}

/** The object that a write is about: another way to write it will do as well. */
function objectOf({ group, resource, namespace, name }: ChaosRequest): string {
  return [group, resource, namespace, name].join("/");
}

const watchKey = ({ group, resource, namespace }: ChaosRequest): string =>
  `${resource}${group === "" ? "" : `.${group}`}${namespace === "" ? "" : ` in ${namespace}`}`;

/** `1.5 s`. */
export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
