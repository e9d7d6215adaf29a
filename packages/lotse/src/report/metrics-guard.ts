/**
 * Who may read metrics: the cluster is asked who a token belongs to (TokenReview), and whether that user may get
 * `/metrics` (SubjectAccessReview). Without an answer nothing is shown.
 */
import { createHash } from "node:crypto";
import type { Client } from "@lotse/client";
import { type Clock, errorMessage } from "@lotse/client/meta";
import type { Logger } from "./logger.ts";

/** Why metrics are not shown. */
export interface Refusal {
  readonly status: 401 | 403 | 429 | 503;
  /** In words, for whoever asked. */
  readonly why: string;
}

/** What the cluster says of the bearer of a token. */
export type AskedWho =
  | { readonly known: false }
  | { readonly known: true; readonly user: string; readonly allowed: boolean };

/** What a guard is made of. */
export interface MetricsGuardOptions {
  /** Asks the cluster; rejects when it does not answer, or does not let us ask. */
  readonly ask: (token: string) => Promise<AskedWho>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Prometheus asks every half minute or so: a yes is good for two of its questions, a no is soon looked at again. */
const [YES_MS, NO_MS] = [60_000, 10_000];
/** So many tokens are remembered, and so many are asked about at the same time: strangers can make up any number. */
const [MOST_KEPT, MOST_ASKED] = [100, 8];

interface Kept {
  readonly until: number;
  readonly refusal: Refusal | undefined;
}

/** See the module comment. */
export class MetricsGuard {
  readonly #options: MetricsGuardOptions;
  /** By the digest of a token: what is kept shall be of no use to those who read this memory. In the order of asking. */
  readonly #kept = new Map<string, Kept>();
  readonly #asking = new Map<string, Promise<Refusal | undefined>>();
  #problem: string | undefined;

  constructor(options: MetricsGuardOptions) {
    this.#options = options;
  }

  /** Why not; undefined: the metrics may be shown. Never rejects. */
  async check(authorization: string | undefined): Promise<Refusal | undefined> {
    const token = bearerOf(authorization);
    if (token === undefined)
      return { status: 401, why: "metrics are shown to those who bring a token: Authorization: Bearer …" };
    const key = createHash("sha256").update(token).digest("base64");
    const kept = this.#kept.get(key);
    if (kept && kept.until > this.#options.clock.monotonic()) return kept.refusal;
    const asking = this.#asking.get(key);
    if (asking) return asking;
    if (this.#asking.size >= MOST_ASKED) return { status: 429, why: "too many ask at the same time; try again" };
    const asked = this.#ask(key, token).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asked);
    return asked;
  }

  async #ask(key: string, token: string): Promise<Refusal | undefined> {
    const { ask, clock } = this.#options;
    try {
      const refusal = refusalOf(await ask(token));
      this.#problem = undefined;
      this.#keep(key, { refusal, until: clock.monotonic() + (refusal ? NO_MS : YES_MS) });
      return refusal;
    } catch (error) {
      this.#tell(error);
      // For whoever asks it is enough that there is no answer; why, is for the log.
      return { status: 503, why: "the cluster does not tell who may read metrics; the operator's log says why" };
    }
  }

  #keep(key: string, kept: Kept): void {
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }

  #tell(error: unknown): void {
    const problem = errorMessage(error);
    const isNew = problem !== this.#problem;
    this.#problem = problem;
    this.#options.logger[isNew ? "warn" : "debug"]("metrics are shown to nobody, because nobody can be asked about", {
      error: problem,
      hint: "the operator needs the rights to create tokenreviews and subjectaccessreviews: lotse generate rbac --metrics-auth",
    });
  }
}

function refusalOf(asked: AskedWho): Refusal | undefined {
  if (!asked.known) return { status: 401, why: "the cluster does not know this token" };
  if (asked.allowed) return undefined;
  return { status: 403, why: `${asked.user} may not get the URL /metrics` };
}

function bearerOf(authorization: string | undefined): string | undefined {
  const [, token] = /^bearer +(\S+) *$/i.exec(authorization ?? "") ?? [];
  return token;
}

/** The questions, as this client may ask them. */
export function clusterReview(client: Pick<Client, "raw">, timeoutMs = 5_000): (token: string) => Promise<AskedWho> {
  const review = async <S>(group: string, plural: string, kind: string, spec: object): Promise<S> => {
    const answer = await client.raw({
      method: "POST",
      path: `/apis/${group}/v1/${plural}`,
      body: { apiVersion: `${group}/v1`, kind, spec },
      timeout: timeoutMs,
    });
    return (await answer.json<{ status?: S }>()).status ?? ({} as S);
  };
  return async (token) => {
    const { authenticated, user } = await review<{
      authenticated?: boolean;
      user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
    }>("authentication.k8s.io", "tokenreviews", "TokenReview", { token });
    if (authenticated !== true || !user?.username) return { known: false };
    const { username, uid, groups, extra } = user;
    const { allowed } = await review<{ allowed?: boolean }>(
      "authorization.k8s.io",
      "subjectaccessreviews",
      "SubjectAccessReview",
      { user: username, uid, groups, extra, nonResourceAttributes: { path: "/metrics", verb: "get" } },
    );
    return { known: true, user: username, allowed: allowed === true };
  };
}
