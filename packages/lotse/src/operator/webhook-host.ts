/**
 * The server of one process, for one operator or for several: those that run together share a port. Each is asked below its
 * own name (`/zoo/validate/check`); without a name, which is how manifests of one operator have it, whoever has the handler
 * answers.
 */
import { type Clock, sleep } from "@lotse/client/meta";
import {
  type CertificateSource,
  type ProblemListener,
  type ServingCredentials,
  statusBody,
  type WebhookAnswer,
  type WebhookRequest,
  type WebhookRoute,
  WebhookServer,
  type WebhookServerHealth,
} from "../admission/index.ts";
import type { Verdict } from "../report/index.ts";

/** One operator at the server. */
export interface WebhookMember {
  readonly operator: string;
  /** What there is at a path; undefined when nothing is. */
  route(path: string): WebhookRoute | undefined;
  /** Whether it has itself declared what is asked for there. */
  knows(path: string): boolean;
  handle(request: WebhookRequest, path: string): Promise<WebhookAnswer>;
  readiness(): Verdict;
  readonly onProblem: ProblemListener;
  answered(status: number, ms: number, path: string | undefined): void;
}

/** What a host goes by. */
export interface HostParts {
  /** Default: all addresses. */
  readonly host?: string | undefined;
  /** 0: any free one. */
  readonly port: number;
  readonly clock: Clock;
}

/** An operator's place at the server. */
export interface Seat {
  /** Where the server listens. */
  readonly port: number;
  health(): WebhookServerHealth;
  /** The operator answers nothing any more; what it is asked now may take `graceMs`. The last one closes the server. */
  leave(graceMs: number): Promise<void>;
  /** Closes the server under everybody, at once. */
  kill(): Promise<void>;
}

/** See the module comment. */
export class WebhookHost {
  readonly #parts: HostParts;
  readonly #members = new Map<string, WebhookMember>();
  /** What each operator is being asked. */
  readonly #asked = new Map<WebhookMember, Set<Promise<unknown>>>();
  #server: Promise<WebhookServer> | undefined;

  constructor(parts: HostParts) {
    this.#parts = parts;
  }

  /** Listens, unless another operator has made it listen already. `names`: for which the certificate is. */
  async join(member: WebhookMember, certificates: CertificateSource, names: readonly string[]): Promise<Seat> {
    this.#members.set(member.operator, member);
    this.#asked.set(member, new Set());
    const { credentials } = certificates.current();
    this.#server ??= this.#start(credentials);
    const starting = this.#server;
    let server: WebhookServer;
    try {
      server = await starting;
      server.use(credentials, this.#isFirst(member) ? undefined : names);
    } catch (error) {
      this.#forget(member);
      if (this.#server === starting) this.#server = undefined;
      throw error;
    }
    const unlisten = certificates.onChange((now) => {
      server.use(now.credentials, names);
      // Clients that say no name, because they were given an address, get that of the first.
      if (this.#isFirst(member)) server.use(now.credentials);
    });
    return {
      port: server.port,
      health: () => server.health(),
      leave: async (graceMs) => {
        unlisten();
        await this.#leave(member, server, graceMs);
      },
      kill: () => server.kill(),
    };
  }

  #isFirst(member: WebhookMember): boolean {
    const [first] = this.#members.values();
    return first === member;
  }

  async #leave(member: WebhookMember, server: WebhookServer, graceMs: number): Promise<void> {
    if (!this.#members.has(member.operator)) return;
    const asked = [...(this.#asked.get(member) ?? [])];
    this.#forget(member);
    if (this.#members.size === 0) {
      this.#server = undefined;
      await server.drain(graceMs);
      return;
    }
    const over = new AbortController();
    const late = sleep(this.#parts.clock, graceMs, over.signal).catch(() => undefined);
    await Promise.race([Promise.allSettled(asked), late]);
    over.abort();
  }

  #forget(member: WebhookMember): void {
    this.#members.delete(member.operator);
    this.#asked.delete(member);
  }

  #start(credentials: ServingCredentials): Promise<WebhookServer> {
    const { host, port, clock } = this.#parts;
    return WebhookServer.start({
      ...(host !== undefined && { host }),
      port,
      credentials,
      clock,
      route: (path) => this.#route(path),
      handle: (request) => this.#handle(request),
      readiness: () => this.#readiness(),
      onProblem: (message, fields) => this.#first?.onProblem(message, fields),
      measures: {
        answered: (status, ms, path) => {
          const found = path === undefined ? undefined : this.#find(path);
          if (found) found.member.answered(status, ms, found.path);
          else this.#first?.answered(status, ms, path);
        },
      },
    });
  }

  get #first(): WebhookMember | undefined {
    const [first] = this.#members.values();
    return first;
  }

  #route(path: string): WebhookRoute | undefined {
    const found = this.#find(path);
    if (found) return found.member.route(found.path);
    // Answered with a word about it.
    return this.#knowing(path).length > 1 ? {} : undefined;
  }

  async #handle(request: WebhookRequest): Promise<WebhookAnswer> {
    const found = this.#find(request.path);
    if (!found) return nobody(request.path, this.#knowing(request.path));
    const answer = found.member.handle(request, found.path);
    const asked = this.#asked.get(found.member);
    asked?.add(answer);
    try {
      return await answer;
    } finally {
      asked?.delete(answer);
    }
  }

  /** Who is asked, and at which path of its own. */
  #find(path: string): { readonly member: WebhookMember; readonly path: string } | undefined {
    const end = path.indexOf("/", 1);
    const named = end < 0 ? undefined : this.#members.get(path.slice(1, end));
    const rest = path.slice(end);
    if (named?.route(rest)) return { member: named, path: rest };
    const first = this.#first;
    // An operator that is alone says itself what it does not have.
    if (first && this.#members.size === 1) return { member: first, path };
    const [only, another] = this.#knowing(path);
    return only && !another ? { member: only, path } : undefined;
  }

  #knowing(path: string): WebhookMember[] {
    return [...this.#members.values()].filter((member) => member.knows(path));
  }

  #readiness(): Verdict {
    const members = [...this.#members.values()];
    const reasons = members.flatMap((member) => {
      const { ok, reasons: all } = member.readiness();
      if (ok) return [];
      return members.length === 1 ? all : all.map((reason) => `${member.operator}: ${reason}`);
    });
    return { ok: reasons.length === 0, reasons };
  }
}

function nobody(path: string, knowing: readonly WebhookMember[]): WebhookAnswer {
  if (knowing.length < 2) return { status: 404, body: statusBody(404, `there is nothing at ${JSON.stringify(path)}`) };
  const names = knowing.map(({ operator }) => operator).join(" and ");
  const ways = knowing.map(({ operator }) => `/${operator}${path}`).join(" or ");
  return { status: 404, body: statusBody(404, `${names} have a handler at ${path}: ask at ${ways}`) };
}
