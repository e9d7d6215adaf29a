/** Sees everything and does nothing: follows the objects and the Lease by watches of its own, and hears handlers begin. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Client, ConfigMap, type KindClass, type KubeObject, Lease } from "@lotse/client";
import { type Begun, OPERATOR, Order } from "./order.ts";
import type { SeenSeat } from "./seats.ts";
import type { Evidence, Mark, SeenLease, SeenVersion } from "./verdict.ts";

/** See the module comment. */
export class Witness implements Evidence, AsyncDisposable {
  readonly begun: Begun[] = [];
  readonly orders: SeenVersion[] = [];
  readonly receipts: SeenVersion[] = [];
  readonly leases: SeenLease[] = [];
  /** The Leases of members that share the objects. */
  readonly seats: SeenSeat[] = [];
  readonly #over = new AbortController();
  /** When each of `begun` was heard. */
  readonly #at: number[] = [];
  readonly #server: Server;
  #watches: Promise<unknown> = Promise.resolve();

  private constructor() {
    this.#server = createServer((request, response) => {
      let text = "";
      request.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      request.once("end", () => {
        this.begun.push(JSON.parse(text) as Begun);
        this.#at.push(performance.now());
        response.end();
      });
    });
  }

  static async open(client: Client): Promise<Witness> {
    const witness = new Witness();
    await new Promise<void>((resolve) => witness.#server.listen(0, "127.0.0.1", resolve));
    witness.#watches = Promise.all([
      witness.#follow(client, Order, (body) => {
        const { spec, status } = body as unknown as { spec: { change: number }; status?: Partial<Mark> };
        const { run, by, change } = status ?? {};
        const mark = run !== undefined && by !== undefined && change !== undefined ? { run, by, change } : undefined;
        witness.orders.push({ ...named(body), mark, wanted: spec.change });
      }),
      witness.#follow(client, ConfigMap, (body) => {
        const { run, by, change } = (body as { data?: Record<string, string> }).data ?? {};
        if (run === undefined || by === undefined) return;
        witness.receipts.push({ ...named(body), mark: { run, by, change: Number(change) } });
      }),
      witness.#follow(client, Lease, ({ metadata, spec }) => {
        const { holderIdentity: holder = "" } = spec as { holderIdentity?: string };
        const version = metadata?.resourceVersion ?? "";
        const { labels = {}, annotations = {} } = metadata ?? {};
        if (metadata?.name === OPERATOR) witness.leases.push({ version, holder });
        else if (labels["lotse.dev/operator"] === OPERATOR) {
          const members = annotations["lotse.dev/members"] ?? "";
          const view = members === "" ? [] : members.split(",").map(Number);
          witness.seats.push({ version, holder, seat: Number(labels["lotse.dev/shard"]), view });
        }
      }),
    ]);
    return witness;
  }

  /** Where handlers tell that they begin. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Who holds the Lease, as far as it was seen. */
  get holder(): string {
    return this.leases.at(-1)?.holder ?? "";
  }

  /** Who takes part in the work, by the newest Lease of each seat. */
  get members(): readonly string[] {
    const newest = new Map(this.seats.map(({ seat, holder }) => [seat, holder]));
    return [...newest.values()].filter((holder) => holder !== "");
  }

  /** When handlers of a process have begun, or those of all others (monotonic milliseconds). */
  times({ of, but }: { readonly of?: string; readonly but?: string }): number[] {
    return this.#at.filter((_, i) => (of ? this.begun[i]?.by === of : this.begun[i]?.by !== but));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    this.#server.close();
    this.#server.closeAllConnections();
    await this.#watches;
  }

  async #follow(client: Client, kind: KindClass<KubeObject>, see: (body: KubeObject["body"]) => void): Promise<void> {
    try {
      for await (const { type, object } of client.watch(kind, { signal: this.#over.signal })) {
        if (type !== "DELETED") see(object.body);
      }
    } catch (error) {
      if (!this.#over.signal.aborted) throw error;
    }
  }
}

function named({ metadata }: KubeObject["body"]): Pick<SeenVersion, "uid" | "name" | "version"> {
  const { uid = "", name = "", resourceVersion = "" } = metadata ?? {};
  return { uid, name, version: resourceVersion };
}
