/**
 * Tells the API server of this operator, and keeps it told: webhook configurations, policies, and where objects are
 * converted. Each is applied with a field manager of its own, follows certificates and kinds, and is put back when another
 * client changes it, slower each time.
 */
import {
  type Client,
  ConflictError,
  ForbiddenError,
  InvalidError,
  type KindDescription,
  type KubeBody,
  NotFoundError,
} from "@lotse/client";
import { type Clock, errorMessage, formatDuration, sleep } from "@lotse/client/meta";
import {
  backoffMs,
  DeclarationError,
  planBackoff,
  type RegisteredName,
  registeredArgument,
} from "../../declare/index.ts";
import { Bell, type Retrying, retryForever } from "../../informers/index.ts";
import type { Logger } from "../../report/index.ts";
import { type Decision, decide } from "./decide.ts";
import { LiveObjects, type LiveQuery } from "./live.ts";
import {
  bodyToApply,
  digestAnnotation,
  digestOfWanted,
  isAsWanted,
  lastManagerOf,
  replacedEntries,
  typeWarnings,
  type Wanted,
} from "./wanted.ts";

/** An object that is wanted, and of which kind it is. */
export interface Registered extends Wanted {
  readonly kind: KindDescription;
}

/** What is to be registered now. */
export interface RegistrationPlan {
  readonly wanted: readonly Registered[];
  /** Where objects of this operator may be: those that are there and not wanted go. */
  readonly queries: readonly LiveQuery[];
}

/** What a {@link Registration} goes by. */
export interface RegistrationParts {
  readonly operator: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** As it is at the moment: certificates change, kinds come and go. */
  readonly plan: () => RegistrationPlan;
  /**
   * Notes what will be registered, for a later version of the operator that does not; called before it is, and again when
   * there is more. Absent: nothing is noted.
   */
  readonly note?: (names: readonly RegisteredName[]) => Promise<void>;
}

/** The API server refuses what the operator wants to register: only another declaration helps. */
export class RegistrationError extends DeclarationError {
  override readonly code: string = "LOTSE_REGISTRATION";
}

/** How long to wait before something is put back once more that another client keeps changing. */
const PAUSES = planBackoff({ initial: "1s", factor: 3, max: "5m", jitter: 0 });
/** A fight is over when nothing had to be put back for so long. */
const CALM_MS = 10 * 60_000;
/** How often to look when nothing rings. */
const LOOK_MS = 5 * 60_000;

const REMOVED = "what a former version of the operator has registered is removed";

/** What is remembered of one object. */
interface Memory {
  written: string | undefined;
  yieldedAt: number | undefined;
  /** How often it was put back since it was last calm, when last, and when it may be next (monotonic). */
  fights: number;
  foughtAt: number;
  notBefore: number;
}

/** The field manager of what an operator registers. */
export function registrationManager(operator: string): string {
  return `${operator}-admission`;
}

/** See the module comment. */
export class Registration {
  readonly #parts: RegistrationParts;
  readonly #live: LiveObjects;
  readonly #bell: Bell;
  readonly #memories = new Map<string, Memory>();
  readonly #told = new Set<string>();
  readonly #noted = new Set<string>();
  #keeping: Promise<void> = Promise.resolve();
  #problem: string | undefined;
  #ended = false;

  constructor(parts: RegistrationParts) {
    this.#parts = parts;
    this.#bell = new Bell(parts.clock, parts.signal);
    this.#live = new LiveObjects({ ...parts, onChange: () => this.#bell.ring() });
  }

  /** What keeps something from being registered now; undefined when nothing does. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /**
   * Registers everything, for as long as it takes, and looks after it from then on. Rejects when the API server refuses
   * something for good.
   */
  async begin(): Promise<void> {
    const { clock, random, logger, signal } = this.#parts;
    const retrying: Retrying = { clock, random, logger, signal };
    await retryForever("the operator could not be registered with the API server", () => this.#all(), retrying);
    this.#keeping = this.#keep();
  }

  /** Something else is wanted: a certificate has changed, or a kind has come or gone. */
  renew(): void {
    this.#bell.ring();
  }

  /** Looks after nothing any more; resolves when nothing is under way. The signal has aborted by then. */
  async end(): Promise<void> {
    this.#ended = true;
    this.#bell.ring();
    await this.#keeping;
    await this.#live.ended();
  }

  /**
   * Leaves only `left` of what this process has registered: what another one has written since stays. For an operator at
   * whose address nothing will answer.
   */
  async withdraw(left: readonly Registered[], signal: AbortSignal): Promise<void> {
    const { operator, client, logger } = this.#parts;
    const view = client.with({ signal });
    for (const one of this.#parts.plan().wanted) {
      if (one.partial) continue;
      const { kind, body } = one;
      const name = nameOf(body);
      const { written } = this.#memoryOf(one);
      if (written === undefined || !isWebhookConfiguration(kind)) continue;
      // Not what the stream has shown last: another process may have taken over since.
      const live = await find(view, kind, name);
      const mark = live?.metadata?.annotations?.[digestAnnotation(operator)];
      if (!live || (mark !== undefined && mark !== written)) continue;
      const stays = left.find((other) => other.kind === kind && nameOf(other.body) === name);
      if (stays) await this.#apply(stays, view);
      else await view.delete(kind, name, { ignoreNotFound: true });
      logger.info("webhooks are no longer registered, because nothing will answer", { configuration: name });
    }
  }

  async #keep(): Promise<void> {
    const { clock, random, logger, signal } = this.#parts;
    let failures = 0;
    let pauseMs = LOOK_MS;
    while (!signal.aborted && !this.#ended) {
      await this.#bell.heard(pauseMs);
      if (signal.aborted || this.#ended) return;
      this.#bell.answer();
      try {
        pauseMs = await this.#all();
        failures = 0;
        if (this.#problem !== undefined) logger.info("everything is registered with the API server again");
        this.#problem = undefined;
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        pauseMs = backoffMs(PAUSES, failures, random());
        const text = errorMessage(error);
        if (this.#problem !== text) {
          const { hint } = (error ?? {}) as { hint?: string };
          logger.warn("what is registered with the API server could not be renewed, will be tried again", {
            error: text,
            hint,
            retryIn: formatDuration(pauseMs),
          });
        }
        this.#problem = text;
        await sleep(clock, pauseMs, signal).catch(() => undefined);
        this.#bell.ring();
      }
    }
  }

  /** Looks at everything once; resolves with how long nothing has to be looked at. */
  async #all(): Promise<number> {
    const { wanted, queries } = this.#parts.plan();
    await Promise.all(queries.map((query) => this.#live.watch(query)));
    await this.#note(wanted);
    let pauseMs = LOOK_MS;
    for (const one of wanted) pauseMs = Math.min(pauseMs, await this.#one(one));
    await this.#removeUnwanted(wanted, queries);
    return Math.max(pauseMs, 1);
  }

  /** What no note speaks of would be found by nobody; an operator that may not note it works all the same. */
  async #note(wanted: readonly Registered[]): Promise<void> {
    const { note, logger } = this.#parts;
    const names = registeredNames(wanted);
    if (!note || names.every((one) => this.#noted.has(registeredArgument(one)))) return;
    try {
      await note(names);
    } catch (error) {
      if (!(error instanceof ForbiddenError)) throw error;
      logger.warn("what is registered could not be noted, a later version that has less of it will not remove it", {
        error: errorMessage(error),
        hint: "allow create, patch and delete of leases in the operator's namespace; lotse generate rbac has the rule",
      });
    }
    for (const one of names) this.#noted.add(registeredArgument(one));
  }

  async #one(one: Registered): Promise<number> {
    const { operator, client, clock } = this.#parts;
    const memory = this.#memoryOf(one);
    const now = clock.monotonic();
    const standing = { ...memory, live: this.#live.get(one.kind, nameOf(one.body)) };
    const decision = decide(one, standing, operator, now);
    if (decision.type !== "yield") memory.yieldedAt = undefined;
    if (decision.type === "nothing") {
      if (standing.live) this.#tellTypes(one, standing.live);
      memory.written ??= standing.live && digestOfWanted(one.body);
      return LOOK_MS;
    }
    if (decision.type === "yield") {
      memory.yieldedAt ??= now;
      return decision.until - now;
    }
    if (decision.type === "put back") {
      if (now < memory.notBefore) return memory.notBefore - now;
      this.#tellDrift(one, decision, standing.live, memory, now);
    }
    await this.#apply(one, client.with({ signal: this.#parts.signal }));
    return LOOK_MS;
  }

  /** An expression that speaks of fields which the kind does not have is taken, and never does what was meant. */
  #tellTypes({ title, body }: Registered, live: KubeBody): void {
    for (const { fieldRef, warning } of typeWarnings(live)) {
      const key = `${nameOf(body)} ${fieldRef} ${warning}`;
      if (this.#told.has(key)) continue;
      this.#told.add(key);
      this.#parts.logger.warn("an expression does not fit the kind that it is for", {
        what: title,
        where: fieldRef,
        why: warning.split("\n")[0],
        hint: "lotse check finds such mistakes before the start",
      });
    }
  }

  #tellDrift(
    { title }: Registered,
    { deleted }: Extract<Decision, { type: "put back" }>,
    live: KubeBody | undefined,
    memory: Memory,
    now: number,
  ): void {
    const { operator, logger } = this.#parts;
    memory.fights = now - memory.foughtAt > CALM_MS ? 1 : memory.fights + 1;
    memory.foughtAt = now;
    const pauseMs = backoffMs(PAUSES, memory.fights, 0);
    memory.notBefore = now + pauseMs;
    logger.warn("another client has changed what this operator has registered, it is put back", {
      what: title,
      change: deleted ? "deleted" : "edited",
      by: live && lastManagerOf(live, registrationManager(operator)),
      times: memory.fights,
      nextAfter: formatDuration(pauseMs),
      hint: "change the operator's declarations instead; lotse uninstall removes what it has registered",
    });
  }

  async #apply(one: Registered, client: Client): Promise<void> {
    const { operator } = this.#parts;
    const { kind } = one;
    const fieldManager = registrationManager(operator);
    const body = bodyToApply(one, operator);
    const name = nameOf(body);
    try {
      let written = (await client.apply(body, { fieldManager, force: true })).body as KubeBody;
      const entries = isAsWanted(written, one) ? undefined : replacedEntries(written, body);
      if (entries) {
        const { resourceVersion } = written.metadata ?? {};
        const patch = { metadata: { resourceVersion }, webhooks: entries };
        written = (await client.patch(kind, name, patch as object, { fieldManager })).body as KubeBody;
      }
      this.#memoryOf(one).written = digestOfWanted(one.body);
      this.#live.wrote(kind, name, written);
    } catch (error) {
      throw error instanceof InvalidError ? refused(one, error) : error;
    }
  }

  /** Objects of this operator that a former version of it has registered. */
  async #removeUnwanted(wanted: readonly Registered[], queries: readonly LiveQuery[]): Promise<void> {
    const { client, logger, operator, signal } = this.#parts;
    for (const query of queries) {
      if (!query.labels) continue;
      for (const live of this.#live.of(query)) {
        const name = nameOf(live);
        if (wanted.some(({ kind, body }) => kind.plural === query.kind.plural && nameOf(body) === name)) continue;
        if (live.metadata?.labels?.["lotse.dev/operator"] !== operator) continue;
        const { uid } = live.metadata ?? {};
        try {
          await client.with({ signal }).delete(query.kind, name, { ignoreNotFound: true, preconditions: { uid } });
        } catch (error) {
          if (error instanceof ForbiddenError) {
            this.#tellLeft(query.kind, name, error);
            continue;
          }
          // There is another one of this name by now, which the stream will show.
          if (!(error instanceof ConflictError || error instanceof NotFoundError)) throw error;
        }
        this.#live.wrote(query.kind, name, undefined);
        logger.info(REMOVED, { kind: query.kind.kind, name });
      }
    }
  }

  /** Roles allow to delete what is wanted now, by its name; what was once wanted must not keep the operator from working. */
  #tellLeft({ kind, plural, group }: KindDescription, name: string, error: ForbiddenError): void {
    const key = `${plural} ${name} left`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#parts.logger.warn("what a former version of the operator has registered is still there", {
      kind,
      name,
      error: errorMessage(error),
      hint: `remove it: kubectl delete ${plural}.${group} ${name}`,
    });
  }

  #memoryOf({ kind, body }: Registered): Memory {
    const key = `${kind.plural} ${nameOf(body)}`;
    let memory = this.#memories.get(key);
    if (!memory) {
      memory = { written: undefined, yieldedAt: undefined, fights: 0, foughtAt: -CALM_MS, notBefore: 0 };
      this.#memories.set(key, memory);
    }
    return memory;
  }
}

/** What a later version has to know to remove it; parts of objects of others are none of it. */
export function registeredNames(wanted: readonly Registered[]): RegisteredName[] {
  return wanted
    .filter(({ partial }) => !partial)
    .map(({ kind: { plural, version }, body }) => ({ plural, version, name: nameOf(body) }));
}

async function find(client: Client, kind: KindDescription, name: string): Promise<KubeBody | undefined> {
  try {
    return (await client.get(kind, name)).body as KubeBody;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

function nameOf({ metadata }: KubeBody): string {
  return metadata?.name ?? "";
}

/** Policies judge by themselves; only what calls this process has to go with it. */
function isWebhookConfiguration({ plural }: KindDescription): boolean {
  return plural.endsWith("webhookconfigurations");
}

function refused({ title }: Registered, cause: InvalidError): RegistrationError {
  return new RegistrationError(`the API server refuses ${title}: ${cause.message}`, {
    hint: "change its declaration; lotse check finds such mistakes before the start",
    cause,
  });
}
