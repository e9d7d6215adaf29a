/**
 * A DNS provider in memory, as unreliable as it is told to be.
 *
 *   GET    /records?owner=…&name=…&type=…   the records that are all of this
 *   POST   /records                         adds one, also beside another one of the same name and type
 *   PATCH  /records/ID                      changes ttl, values, owner
 *   DELETE /records/ID
 *   PUT    /flaky                           from now on so many requests go wrong: 0.3
 *
 * `npx tsx provider.ts --port 18053 --flaky 0.3 --seed 7` runs it by itself; from Node.js 24 on `node provider.ts` does, too.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, isIPv4, isIPv6 } from "node:net";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";

/** A record as the provider keeps it. */
export interface ProviderRecord {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly values: readonly string[];
  /** Whoever made it may leave a mark. */
  readonly owner: string;
}

/** What goes wrong with a request. */
export type Fault =
  /** 429, come back after so many seconds. */
  | { readonly kind: "busy"; readonly retryAfter: number }
  /** 500, and nothing was done. */
  | { readonly kind: "broken" }
  /** Never answered, and nothing is done. */
  | { readonly kind: "silent" }
  /** It is done, and the connection breaks before the answer. */
  | { readonly kind: "lost" }
  /** The connection breaks, and it is done later: when somebody has looked twice, and found nothing. */
  | { readonly kind: "late" };

/** Decides what goes wrong with a request: `POST /records`. */
export type Faults = (request: string) => Fault | undefined;

/** A provider at work. */
export interface Provider {
  readonly url: string;
  readonly records: readonly ProviderRecord[];
  /** What was asked so far: `POST /records`. */
  readonly requests: readonly string[];
  /** What goes wrong from now on. */
  faults: Faults;
  /** Done by somebody else, who uses the provider's web page. */
  add(record: Partial<ProviderRecord>): ProviderRecord;
  change(id: string, changes: Partial<ProviderRecord>): void;
  remove(id: string): void;
  stop(): Promise<void>;
}

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The records, and what may be done with them. */
class Zone {
  records: readonly ProviderRecord[] = [];
  #next = 1;

  find(query: URLSearchParams): readonly ProviderRecord[] {
    return this.records.filter((record) => {
      return [...query].every(([field, value]) => record[field as keyof ProviderRecord] === value);
    });
  }

  add(record: Partial<ProviderRecord>): ProviderRecord {
    const added = { name: "", type: "A", ttl: 300, values: [], owner: "", ...record, id: String(this.#next++) };
    check(added);
    this.records = [...this.records, added];
    return added;
  }

  change(id: string, changes: Partial<ProviderRecord>): ProviderRecord {
    const changed = { ...this.#get(id), ...changes, id };
    check(changed);
    this.records = this.records.map((one) => (one.id === id ? changed : one));
    return changed;
  }

  remove(id: string): ProviderRecord {
    const removed = this.#get(id);
    this.records = this.records.filter((one) => one !== removed);
    return removed;
  }

  #get(id: string): ProviderRecord {
    const found = this.records.find((one) => one.id === id);
    if (!found) throw new Refusal(404, `there is no record ${id}`);
    return found;
  }
}

function check({ name, type, ttl, values }: ProviderRecord): void {
  if (!name.includes(".")) throw new Refusal(422, `${JSON.stringify(name)} is no name in a zone`);
  if (ttl < 30) throw new Refusal(422, `a ttl of ${ttl} is too short: 30 at least`);
  if (values.length === 0) throw new Refusal(422, "a record needs a value");
  const isWrong = (value: string) => (type === "A" && !isIPv4(value)) || (type === "AAAA" && !isIPv6(value));
  const wrong = values.find(isWrong);
  if (wrong !== undefined) throw new Refusal(422, `${wrong} is no address for a record of type ${type}`);
}

/** Something goes wrong with so many of all requests, the same ones each time for the same seed. */
export function flaky(share: number, seed = 1): Faults {
  const random = randomNumbers(seed);
  return () => {
    if (random() >= share) return undefined;
    const faults: Fault[] = [
      { kind: "busy", retryAfter: 7 },
      { kind: "broken" },
      { kind: "silent" },
      { kind: "lost" },
      { kind: "late" },
    ];
    return faults[Math.floor(random() * faults.length)];
  };
}

/** Numbers from 0 to 1 (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Starts a provider on this machine, on a free port unless one is named; nothing goes wrong unless somebody says so. */
export async function startProvider(options: { port?: number; faults?: Faults } = {}): Promise<Provider> {
  const zone = new Zone();
  const requests: string[] = [];
  let late: { readonly act: () => unknown; looks: number }[] = [];

  const perform = async (request: IncomingMessage): Promise<() => unknown> => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://provider");
    const id = /^\/records\/(\d+)$/.exec(pathname)?.[1] ?? "";
    const body = request.method === "GET" ? "" : await text(request);
    const given = () => JSON.parse(body) as Partial<ProviderRecord>;
    if (pathname === "/flaky" && request.method === "PUT") return () => (provider.faults = flaky(Number(body)));
    if (pathname === "/records" && request.method === "GET") return () => zone.find(searchParams);
    if (pathname === "/records" && request.method === "POST") return () => zone.add(given());
    if (id && request.method === "PATCH") return () => zone.change(id, given());
    if (id && request.method === "DELETE") return () => zone.remove(id);
    throw new Refusal(404, `nobody answers ${request.method} ${pathname}`);
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const what = `${request.method} ${request.url?.split("?", 1)[0]}`;
    requests.push(what);
    const fault = what === "PUT /flaky" ? undefined : provider.faults(what);
    if (fault?.kind === "busy") return send(response, 429, { error: "too many requests" }, fault.retryAfter);
    if (fault?.kind === "broken") return send(response, 500, { error: "something went wrong" });
    if (fault?.kind === "silent") return;
    const act = await perform(request);
    if (fault?.kind === "late") late.push({ act, looks: 2 });
    const result = fault?.kind === "late" ? undefined : act();
    if (fault) request.socket.destroy();
    else send(response, 200, result);
    if (what !== "GET /records" || fault) return;
    for (const one of late) if (--one.looks === 0) attempt(one.act);
    late = late.filter(({ looks }) => looks > 0);
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      send(response, error instanceof Refusal ? error.status : 400, { error: String((error as Error).message) });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const provider: Provider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get records() {
      return zone.records;
    },
    requests,
    faults: options.faults ?? (() => undefined),
    add: (record) => zone.add(record),
    change: (id, changes) => void zone.change(id, changes),
    remove: (id) => void zone.remove(id),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return provider;
}

/** What comes late may come too late: nobody is there to hear of it. */
function attempt(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}

function send(response: ServerResponse, status: number, body: unknown, retryAfter?: number): void {
  response.writeHead(status, {
    "content-type": "application/json",
    ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
  });
  response.end(`${JSON.stringify(body)}\n`);
}

// By its own name, so that it does not start with an operator that it was bundled into.
if (/[\\/]provider\.m?[jt]s$/.test(process.argv[1] ?? "")) {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "18053" },
      flaky: { type: "string", default: "0" },
      seed: { type: "string", default: "1" },
    },
  });
  const faults = flaky(Number(values.flaky), Number(values.seed));
  const { url } = await startProvider({ port: Number(values.port), faults });
  console.log(`the provider listens at ${url}`);
}
