/** An API server of a few lines, for tests of what finds kinds out: its answers can be taken away, held back and replaced. */
import { PassThrough } from "node:stream";
import {
  apiErrorFrom,
  Client,
  ConnectionError,
  type KindDescription,
  type RawRequest,
  type RawResponse,
  UnexpectedAnswerError,
} from "@lotse/client";
import type { VirtualClock } from "@lotse/client/meta";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** What can be wrong with an answer. */
export const FAULTS = {
  "a refusal": (request: RawRequest) => apiErrorFrom(403, { message: "no" }, request),
  "an overload": (request: RawRequest) => apiErrorFrom(429, { message: "later" }, request),
  "a server error": (request: RawRequest) => apiErrorFrom(503, { message: "away" }, request),
  "a reset": (request: RawRequest) => new ConnectionError("the connection was reset", { request, sent: true }),
  "a web page": (request: RawRequest) => new UnexpectedAnswerError("a page", { request, status: 200 }),
} as const;

/** A kind of the fake API. */
export const kindOf = (plural: string, group = "example.com", version = "v1"): KindDescription => ({
  group,
  version,
  kind: plural,
  plural,
  singular: plural.slice(0, -1),
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs: ["list", "watch", "patch", "get"],
  subresources: [],
});

/** See the module comment. */
export class TestApi {
  /** What discovery says. */
  kinds: KindDescription[] = [];
  /** Group versions whose own server does not answer. */
  broken: string[] = [];
  /** What is thrown at a request, if anything. */
  fails: (request: RawRequest) => unknown = () => undefined;
  /** What an answer waits for. */
  holds: (request: RawRequest) => Promise<void> | undefined = () => undefined;
  /** Kinds whose path answers, whatever discovery says. */
  readonly served = new Set<string>();
  readonly requests: string[] = [];
  readonly #clock: VirtualClock;
  readonly #definitions = new Map<string, object>();
  readonly #watches = new Set<PassThrough>();
  #version = 1;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  connect(): Promise<Client> {
    const transport = { request: (request: RawRequest) => this.#answer(request), close: async () => {} };
    return Client.connect({ url: "http://test.api", transport, clock: this.#clock, random: () => 0.5 });
  }

  /** How often the kinds were asked for. */
  get looks(): number {
    return this.requests.filter((path) => path === "/apis").length;
  }

  count(path: string): number {
    return this.requests.filter((one) => one === path).length;
  }

  /** Those who watch definitions are told of one. */
  define(plural: string, group = "example.com"): void {
    const definition = {
      metadata: { name: `${plural}.${group}`, uid: plural, resourceVersion: String(++this.#version) },
      spec: { group, names: { plural } },
      status: { conditions: [{ type: "Established", status: "True" }] },
    };
    this.#definitions.set(plural, definition);
    this.#tell("ADDED", definition);
  }

  /** And that it is gone. */
  undefine(plural: string): void {
    const definition = this.#definitions.get(plural);
    this.#definitions.delete(plural);
    if (definition) this.#tell("DELETED", definition);
  }

  #tell(type: string, object: object): void {
    for (const body of this.#watches) body.write(`${JSON.stringify({ type, object })}\n`);
  }

  async #answer(request: RawRequest): Promise<RawResponse> {
    const watch = request.query?.watch === true;
    this.requests.push(watch ? `watch ${request.path}` : request.path);
    const json = this.#json(request);
    await this.holds(request);
    const error = this.fails(request);
    if (error !== undefined) throw error;
    const body = new PassThrough();
    if (watch) {
      this.#watches.add(body);
      body.on("close", () => this.#watches.delete(body));
      request.signal?.addEventListener("abort", () => body.destroy(), { once: true });
    } else if (json === undefined) throw apiErrorFrom(404, "404 page not found", request);
    return { status: 200, headers: {}, json: async <T>() => json as T, text: async () => "", body };
  }

  /** Made when the request arrives: what changes while it is held back is not in it. */
  #json({ path }: RawRequest): unknown {
    if (path === "/api") return { kind: "APIGroupDiscoveryList", items: [] };
    if (path === "/apis") return { kind: "APIGroupDiscoveryList", items: this.#groups() };
    if (path === CRDS) return { items: [...this.#definitions.values()], metadata: { resourceVersion: "1" } };
    const plural = path.split("/").at(-1) ?? "";
    const there = this.served.has(plural) || this.kinds.some((kind) => kind.plural === plural);
    return there ? { items: [], metadata: { resourceVersion: "1" } } : undefined;
  }

  #groups(): unknown[] {
    const names = new Set([...this.kinds.map(({ group }) => group), ...this.broken]);
    return [...names].map((name) => ({
      metadata: { name },
      versions: [
        {
          version: "v1",
          freshness: this.broken.includes(name) ? "Stale" : "Current",
          resources: this.broken.includes(name) ? [] : this.kinds.filter(({ group }) => group === name).map(described),
        },
      ],
    }));
  }
}

function described({ plural, kind, singular, verbs }: KindDescription): object {
  return { resource: plural, responseKind: { kind }, scope: "Namespaced", singularResource: singular, verbs };
}
