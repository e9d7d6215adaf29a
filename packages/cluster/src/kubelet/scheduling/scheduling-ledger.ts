/** Who has taken what on which node. Kept up to date pod by pod, so that a decision need not look at all of them. */
import { ANY_ADDRESS, type Demand, type HostPort } from "./scheduling-demand.ts";

/** What the pods of one node take together. */
export class NodeLoad {
  readonly #pods = new Map<string, Demand>();
  readonly #used = new Map<string, number>();
  /** How many hold a port, by address. */
  readonly #ports = new Map<string, Map<string, number>>();

  get pods(): ReadonlyMap<string, Demand> {
    return this.#pods;
  }

  used(resource: string): number {
    return this.#used.get(resource) ?? 0;
  }

  isTaken({ ip, name }: HostPort): boolean {
    const holders = this.#ports.get(name);
    if (!holders || holders.size === 0) return false;
    return ip === ANY_ADDRESS || holders.has(ip) || holders.has(ANY_ADDRESS);
  }

  add(demand: Demand): void {
    this.drop(demand.key);
    this.#pods.set(demand.key, demand);
    this.#count(demand, 1);
  }

  drop(key: string): void {
    const demand = this.#pods.get(key);
    if (!demand) return;
    this.#pods.delete(key);
    this.#count(demand, -1);
  }

  /** One to try things out on. */
  copy(): NodeLoad {
    const copy = new NodeLoad();
    for (const demand of this.#pods.values()) copy.add(demand);
    return copy;
  }

  #count({ requests, ports }: Demand, sign: 1 | -1): void {
    for (const [name, amount] of requests) this.#used.set(name, this.used(name) + sign * amount);
    for (const { ip, name } of ports) {
      const holders = this.#ports.get(name) ?? new Map<string, number>();
      this.#ports.set(name, holders);
      const count = (holders.get(ip) ?? 0) + sign;
      if (count > 0) holders.set(ip, count);
      else holders.delete(ip);
    }
  }
}

/** The loads of all nodes. */
export class Ledger {
  readonly #nodes = new Map<string, NodeLoad>();
  readonly #places = new Map<string, string>();

  /** What is on a node; nothing when no pod was put there. */
  load(node: string): NodeLoad {
    const known = this.#nodes.get(node);
    if (known) return known;
    const load = new NodeLoad();
    this.#nodes.set(node, load);
    return load;
  }

  has(key: string): boolean {
    return this.#places.has(key);
  }

  put(node: string, demand: Demand): void {
    const before = this.#places.get(demand.key);
    if (before !== undefined && before !== node) this.drop(demand.key);
    this.#places.set(demand.key, node);
    this.load(node).add(demand);
  }

  /** Whether there was something to drop. */
  drop(key: string): boolean {
    const node = this.#places.get(key);
    if (node === undefined) return false;
    this.#places.delete(key);
    const load = this.load(node);
    load.drop(key);
    if (load.pods.size === 0) this.#nodes.delete(node);
    return true;
  }
}
