/** Config maps of somebody else, some with names that children want. Whoever touches one of them is found out. */
import { ApiError, type Client, ConfigMap, type KubeBody, NotFoundError } from "@lotse/client";
import { expect } from "vitest";

/** See the module comment. */
export class Strangers {
  readonly #client: Client;
  readonly #known = new Map<string, KubeBody>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** The names that are theirs. */
  get names(): ReadonlySet<string> {
    return new Set(this.#known.keys());
  }

  /** `owner`: it says that it belongs to this object, and is none of its children all the same. */
  async create(name: string, owner: KubeBody | undefined): Promise<void> {
    if (this.#known.has(name)) return;
    const { apiVersion = "", kind = "", metadata } = owner ?? {};
    const reference = { apiVersion, kind, name: metadata?.name ?? "", uid: metadata?.uid ?? "" };
    const map = new ConfigMap({
      metadata: { name, labels: { group: "red" }, ...(owner && { ownerReferences: [reference] }) },
      data: { text: "theirs" },
    });
    try {
      this.#known.set(name, (await this.#client.create(map)).body);
    } catch (error) {
      // A child has the name.
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
  }

  /** Refused if somebody has written it. */
  async change(name: string, text: string): Promise<void> {
    const known = this.#known.get(name);
    if (!known || (await this.#isCollected(name, known))) return;
    const { resourceVersion } = known.metadata ?? {};
    const changed = await this.#client
      .patch(ConfigMap, name, { metadata: { resourceVersion }, data: { text } })
      .catch(ignoreMissing);
    if (changed) this.#known.set(name, changed.body);
    else expect(await this.#isCollected(name, known), `config map ${name} is gone with its owner`).toBe(true);
  }

  /** Refused if somebody has written it. */
  async delete(name: string): Promise<void> {
    const known = this.#known.get(name);
    if (!known || (await this.#isCollected(name, known))) return;
    const { resourceVersion } = known.metadata ?? {};
    try {
      await this.#client.delete(ConfigMap, name, { preconditions: { resourceVersion } });
    } catch (error) {
      // The collector may have been quicker; nobody else.
      if (!(error instanceof NotFoundError && (await this.#isCollected(name, known)))) throw error;
    }
    this.#known.delete(name);
  }

  /** Every one of them is as it was left; only the garbage collector may have taken those whose owner is gone. */
  async check(): Promise<void> {
    for (const [name, known] of [...this.#known]) {
      if (await this.#isCollected(name, known)) continue;
      const found = await this.#client.get(ConfigMap, name);
      expect(found.body, `config map ${name} of somebody else`).toEqual(known);
    }
  }

  /** Whether it is gone together with the object that it belongs to. */
  async #isCollected(name: string, known: KubeBody): Promise<boolean> {
    const [owner] = known.metadata?.ownerReferences ?? [];
    if (!owner) return false;
    try {
      const found = await this.#client.get(ConfigMap, name);
      if (found.uid === known.metadata?.uid) return false;
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
    }
    const { uid } = (await this.#client.get("sites.faults.example.com", owner.name).catch(ignoreMissing)) ?? {};
    expect(uid, `the owner of config map ${name}, which is gone`).not.toBe(owner.uid);
    this.#known.delete(name);
    return true;
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof NotFoundError)) throw error;
}
