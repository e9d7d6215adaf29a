/** The client's three ways to follow objects, and the book that each keeps of what it was told. */
import { type Client, ConfigMap, type ObjectBody, ObjectStore, openStream, type StreamState } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";

/** The objects that a follower follows: a namespace has ConfigMaps of its own. */
export const FOLLOWED = { app: "followed" } as const;

type Change = "ADDED" | "MODIFIED" | "DELETED";

/** What somebody was told, in order. What cannot follow from the entries before is noted as wrong. */
export class Ledger {
  readonly entries: string[] = [];
  readonly wrong: string[] = [];
  readonly #held = new Map<string, ObjectBody["metadata"]>();

  /** The objects that exist as far as the reader knows: `name@version`. */
  get held(): string[] {
    return [...this.#held.values()].map((metadata) => `${metadata?.name}@${metadata?.resourceVersion}`).sort();
  }

  tell(type: Change, { metadata }: ObjectBody): void {
    const name = metadata?.name ?? "";
    const before = this.#held.get(name);
    const entry = `${type} ${name}@${metadata?.resourceVersion}`;
    this.entries.push(entry);
    if (!follows(type, before, metadata)) this.wrong.push(`${entry} after ${before?.resourceVersion ?? "nothing"}`);
    if (type === "DELETED") this.#held.delete(name);
    else this.#held.set(name, metadata);
  }
}

function follows(type: Change, before: ObjectBody["metadata"], next: ObjectBody["metadata"]): boolean {
  if (type === "ADDED") return before === undefined;
  if (before === undefined || before.uid !== next?.uid) return false;
  return type === "DELETED" || Number(before.resourceVersion) < Number(next?.resourceVersion);
}

/** Somebody who follows. */
export interface Follower {
  readonly ledger: Ledger;
  readonly states: StreamState[];
  /** How many objects are kept beside the ledger; undefined where nobody can know. */
  readonly kept: number | undefined;
  /** Resolves when the connection is closed. */
  readonly ended: Promise<void>;
}

type Follow = (client: Client, signal: AbortSignal) => Follower;

function watch(client: Client, signal: AbortSignal): Follower {
  const ledger = new Ledger();
  const states: StreamState[] = [];
  const read = async () => {
    const watching = client.watch(ConfigMap, {
      labelSelector: FOLLOWED,
      signal,
      onState: (state) => states.push(state),
    });
    for await (const { type, object } of watching) ledger.tell(type, object.body);
  };
  return { ledger, states, kept: undefined, ended: unlessAborted(read(), signal) };
}

function inform(client: Client, signal: AbortSignal): Follower {
  const ledger = new Ledger();
  const states: StreamState[] = [];
  const informer = client.informer(ConfigMap, { labelSelector: FOLLOWED, signal });
  informer.on("added", ({ body }) => ledger.tell("ADDED", body));
  informer.on("updated", ({ body }) => ledger.tell("MODIFIED", body));
  informer.on("deleted", ({ body }) => ledger.tell("DELETED", body));
  informer.on("state", (state) => states.push(state));
  return {
    ledger,
    states,
    get kept() {
      return informer.size;
    },
    ended: unlessAborted(informer.closed, signal),
  };
}

/** What an operator does: a stream whose sink is a store. */
function stream(client: Client, signal: AbortSignal): Follower {
  const ledger = new Ledger();
  const states: StreamState[] = [];
  const store = new ObjectStore();
  const apply = (body: ObjectBody) => {
    const change = store.streamed(body);
    if (change.type === "known") return;
    const { replaced } = change;
    const same = replaced?.metadata?.uid === body.metadata?.uid;
    if (replaced && !same) ledger.tell("DELETED", replaced);
    ledger.tell(replaced && same ? "MODIFIED" : "ADDED", body);
  };
  const remove = (body: ObjectBody) => {
    const last = store.removed(body);
    if (last) ledger.tell("DELETED", last);
  };
  const { namespace, clock } = client;
  const ended = openStream(
    client,
    ConfigMap.description,
    { namespace, labelSelector: FOLLOWED, clock, random: () => 0 },
    {
      replace(items) {
        const listed = new Set(items.map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`));
        for (const [key, body] of [...store.shown]) if (!listed.has(key)) remove(body);
        for (const body of items) apply(body);
      },
      apply,
      remove,
      state: (state) => states.push(state),
    },
    signal,
  );
  return {
    ledger,
    states,
    get kept() {
      return store.size;
    },
    ended,
  };
}

/** The three ways, by name. */
export const WAYS: Readonly<Record<string, Follow>> = {
  "client.watch": watch,
  "client.informer": inform,
  openStream: stream,
};

async function unlessAborted(running: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await running;
  } catch (error) {
    if (error !== signal.reason) throw error;
  }
}

/** A clock that knows how many of its calls wait. */
export function countingClock(clock: Clock): Clock & { readonly pending: number } {
  const waiting = new Set<object>();
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after(ms, fn) {
      const entry = {};
      waiting.add(entry);
      const cancel = clock.after(ms, () => {
        waiting.delete(entry);
        fn();
      });
      return () => {
        waiting.delete(entry);
        cancel();
      };
    },
    get pending() {
      return waiting.size;
    },
  };
}
