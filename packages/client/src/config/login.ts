/**
 * Credentials that the program itself brings: asked for at the start, when they expire, and when the server refuses them.
 *
 *     candidates ── the best one that is not over ──► identity
 *         ▲  │ 401: it is remembered as refused, the next best one is tried
 *         └──┘ none left: the program is asked again, once for all who wait
 *
 * What was refused once is not tried again, so that a program that always brings the same token does not turn in circles.
 */
import { Buffer } from "node:buffer";
import { type Clock, ConfigError } from "../meta/index.ts";
import type { Credentials, Identity, Login, LoginFunction, TlsMaterial } from "./contract.ts";
import { readPem } from "./credentials.ts";
import { AuthError } from "./errors.ts";

/** More refused ones than this are not remembered: who rotates that often does not repeat itself. */
const REMEMBERED = 16;

interface Candidate {
  readonly key: string;
  readonly identity: Identity;
  /** Wall-clock milliseconds. */
  readonly expires: number;
  readonly priority: number;
}

/** See the module comment. */
export class LoginCredentials implements Credentials {
  /** A program may bring several credentials to try; one that brings new ones for ever shall not hang. */
  readonly renewals = 4;
  readonly #ask: LoginFunction;
  readonly #clock: Clock;
  /** Equal certificates are the very same value, so that connections are kept. */
  readonly #tls = new Map<string, TlsMaterial>();
  readonly #refused = new Set<string>();
  #candidates: Candidate[] = [];
  #asking: Promise<void> | undefined;

  constructor(ask: LoginFunction, clock: Clock) {
    this.#ask = ask;
    this.#clock = clock;
  }

  /** Takes what the program said before a request asked for it. */
  take(logins: readonly Login[]): void {
    const candidates = logins.map((login) => this.#candidate(login)).filter(({ key }) => !this.#refused.has(key));
    this.#candidates = candidates.sort((a, b) => b.priority - a.priority);
  }

  known(): Identity | undefined {
    return this.#best()?.identity;
  }

  async current(): Promise<Identity> {
    const best = this.#best();
    if (best) return best.identity;
    await this.#again();
    const found = this.#best();
    if (found) return found.identity;
    throw new AuthError("there are no credentials that the server has not refused or that are not over", {
      hint: "the login handlers have to bring new ones",
    });
  }

  async renew(rejected: Identity): Promise<boolean> {
    const refused = this.#candidates.find(({ identity }) => identity === rejected);
    // A late answer about credentials that have been replaced: the present ones were not tried yet.
    if (refused) {
      this.#candidates = this.#candidates.filter((candidate) => candidate !== refused);
      this.#refused.add(refused.key);
      for (const key of this.#refused) {
        if (this.#refused.size <= REMEMBERED) break;
        this.#refused.delete(key);
      }
    }
    if (this.#best()) return true;
    await this.#again();
    return this.#best() !== undefined;
  }

  /** Asks the program again; what it has brought before is not held against it. */
  async reload(what: "files" | "all" = "all"): Promise<Identity> {
    if (what === "all") await this.#again();
    return this.current();
  }

  #best(): Candidate | undefined {
    const now = this.#clock.now();
    return this.#candidates.find(({ expires }) => expires > now);
  }

  #again(): Promise<void> {
    this.#asking ??= Promise.resolve(this.#ask())
      .then((answer) => this.take(loginsOf(answer)))
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }

  #candidate(login: Login): Candidate {
    const { ca, cert, key: privateKey, insecureSkipTlsVerify = false } = login;
    const material = { ca: pem(ca), cert: pem(cert), key: pem(privateKey), rejectUnauthorized: !insecureSkipTlsVerify };
    const shape = JSON.stringify(material);
    const tls = this.#tls.get(shape) ?? material;
    this.#tls.set(shape, tls);
    const authorization = authorizationOf(login);
    const key = JSON.stringify([authorization, shape]);
    const known = this.#candidates.find((candidate) => candidate.key === key)?.identity;
    const identity = known ?? { tls, ...(authorization && { authorization }) };
    return { key, identity, expires: expiryOf(login), priority: login.priority ?? 0 };
  }
}

/** One, several or none. */
export function loginsOf(answer: Awaited<ReturnType<LoginFunction>>): readonly Login[] {
  return answer === undefined ? [] : Array.isArray(answer) ? answer : [answer as Login];
}

function pem(material: string | Uint8Array | undefined): string | undefined {
  if (material === undefined) return undefined;
  return readPem(typeof material === "string" ? material : Buffer.from(material).toString("utf8"));
}

function authorizationOf({ scheme, token, username, password }: Login): string | undefined {
  if (username !== undefined || password !== undefined) {
    if (token !== undefined) {
      throw new ConfigError("a login has a token or a user name with its password, not both", {
        hint: "leave one of them out",
      });
    }
    return `Basic ${Buffer.from(`${username ?? ""}:${password ?? ""}`).toString("base64")}`;
  }
  if (token === undefined) return scheme;
  return `${scheme ?? "Bearer"} ${token.trim()}`;
}

function expiryOf({ expires }: Login): number {
  if (expires === undefined) return Number.POSITIVE_INFINITY;
  const time = new Date(expires).getTime();
  if (!Number.isNaN(time)) return time;
  throw new ConfigError(`${JSON.stringify(expires)} is no time`, {
    hint: "a login expires at a Date or an ISO 8601 text",
  });
}
