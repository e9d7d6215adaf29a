/**
 * The logs of several containers as one. Read once they are in the order of their times; followed they are told as they
 * come, and pods that appear meanwhile join in.
 */
import { type ObjectKey, objectKeyOf, sleep } from "../meta/index.ts";
import { linkSignals } from "../transport/index.ts";
import type { PodAccess } from "./access.ts";
import { chooseContainer, containersOf } from "./containers.ts";
import { type LogLines, logLines } from "./log-lines.ts";
import { type LogEntry, type LogOptions, readEntries } from "./logs.ts";

/** Which lines of which containers. */
export interface WorkloadLogOptions extends LogOptions {
  /** All containers of each pod, instead of one. */
  readonly allContainers?: boolean | undefined;
  /** What stands in front of each line. Default `true`: `[pod/<name>/<container>] `. */
  readonly prefix?: boolean | ((source: LogSource) => string) | undefined;
}

/** Where a line comes from. */
export interface LogSource {
  readonly pod: string;
  readonly container: string;
}

/** A line with its time and its source. */
export type WorkloadLogEntry = LogEntry & LogSource;

/** New pods of a workload are looked for so often; it takes them longer to start. */
const LOOK_MS = 2_000;

/**
 * The logs of all pods that `pods` finds.
 *
 * @example
 * ```ts
 * for await (const line of mergeLogs(() => podsOf(deployment), { follow: true, allContainers: true })) console.log(line);
 * ```
 */
export function mergeLogs(
  pods: () => Promise<readonly PodAccess[]>,
  o: WorkloadLogOptions & { readonly timestamps: "parse" },
): LogLines<WorkloadLogEntry>;
export function mergeLogs(
  pods: () => Promise<readonly PodAccess[]>,
  o?: WorkloadLogOptions & { readonly timestamps?: boolean | undefined },
): LogLines;
export function mergeLogs(
  pods: () => Promise<readonly PodAccess[]>,
  o?: WorkloadLogOptions,
): LogLines<string | WorkloadLogEntry>;
export function mergeLogs(
  pods: () => Promise<readonly PodAccess[]>,
  o: WorkloadLogOptions = {},
): LogLines<string | WorkloadLogEntry> {
  const open = () => (o.follow ? followAll(pods, o) : readAll(pods, o));
  if (o.timestamps === "parse") return logLines(open, ({ line }) => line) as LogLines<never>;
  const prefixOf = readPrefix(o.prefix ?? true);
  const format = (entry: WorkloadLogEntry) =>
    `${prefixOf(entry)}${o.timestamps ? `${entry.timestamp} ` : ""}${entry.line}`;
  return logLines(
    () => mapped(open(), format),
    (line) => line,
  ) as LogLines<never>;
}

function readPrefix(prefix: boolean | ((source: LogSource) => string)): (source: LogSource) => string {
  if (typeof prefix === "function") return prefix;
  return prefix ? ({ pod, container }) => `[pod/${pod}/${container}] ` : () => "";
}

async function* mapped<A, B>(source: AsyncIterable<A>, fn: (item: A) => B): AsyncGenerator<B, void, undefined> {
  for await (const item of source) yield fn(item);
}

type Entries = AsyncGenerator<WorkloadLogEntry, void, undefined>;

interface OneSource extends LogSource {
  readonly access: PodAccess;
}

async function sourcesOf(pods: readonly PodAccess[], o: WorkloadLogOptions): Promise<OneSource[]> {
  const found = await Promise.all(
    pods.map(async (access) => {
      const body = await access.read({ signal: o.signal });
      const names = o.allContainers ? containersOf(body) : [chooseContainer(body, o.container)];
      return names.map((container) => ({ access, pod: access.name, container }));
    }),
  );
  return found.flat();
}

async function* readSource({ access, pod, container }: OneSource, o: LogOptions): Entries {
  for await (const entry of readEntries(access, { ...o, container })) yield { ...entry, pod, container };
}

/** One line of each source is at hand; the earliest goes first. */
async function* readAll(pods: () => Promise<readonly PodAccess[]>, o: WorkloadLogOptions): Entries {
  const sources = (await sourcesOf(await pods(), o)).map((source) => readSource(source, o));
  try {
    const heads = await Promise.all(sources.map(async (entries) => ({ entries, head: await entries.next() })));
    for (;;) {
      let first: (typeof heads)[number] | undefined;
      for (const one of heads) {
        if (one.head.done) continue;
        if (!first || (first.head.value as LogEntry).time > one.head.value.time) first = one;
      }
      if (!first || first.head.done) return;
      yield first.head.value;
      first.head = await first.entries.next();
    }
  } finally {
    await Promise.allSettled(sources.map((entries) => entries.return()));
  }
}

/** Ends when all logs have ended and no new pod has come. */
async function* followAll(pods: () => Promise<readonly PodAccess[]>, o: WorkloadLogOptions): Entries {
  const left = new AbortController();
  const { signal = left.signal, unlink } = linkSignals([left.signal, o.signal]);
  const inbox = new Inbox<WorkloadLogEntry>();
  const known = new Set<ObjectKey>();
  let open = 0;
  /** Reads the pods that are new, to the end of their logs. */
  const look = async () => {
    const found = await pods();
    const fresh = found.filter(({ namespace, name }) => !known.has(objectKeyOf(namespace, name)));
    // Pods that come later are read from their beginning, whatever was asked for the first ones.
    const from = known.size === 0 ? {} : { since: undefined, tailLines: undefined };
    for (const { namespace, name } of fresh) known.add(objectKeyOf(namespace, name));
    for (const source of await sourcesOf(fresh, { ...o, signal })) {
      open++;
      read(source, { ...o, ...from, signal }).catch((error) => inbox.end(error));
    }
    return found[0]?.clock;
  };
  const read = async (source: OneSource, options: LogOptions) => {
    for await (const entry of readSource(source, options)) await inbox.put(entry);
    open--;
    if (open > 0) return;
    await look();
    if (open === 0) inbox.end();
  };
  try {
    const clock = await look();
    if (open === 0 || clock === undefined) return;
    const looking = (async () => {
      for (;;) {
        await sleep(clock, LOOK_MS, signal);
        // A look that fails is made up for by the next one; the streams have their own patience.
        await look().catch(() => undefined);
      }
    })();
    looking.catch(() => undefined);
    yield* inbox.take();
  } finally {
    left.abort(new Error("the reader has left"));
    unlink();
  }
}

/** Where several writers meet one reader: each waits until its item has been taken. */
class Inbox<T> {
  #items: { readonly item: T; readonly taken: () => void }[] = [];
  #end: { readonly failure?: unknown } | undefined;
  #wake: () => void = () => undefined;

  put(item: T): Promise<void> {
    return new Promise((resolve) => {
      this.#items.push({ item, taken: resolve });
      this.#wake();
    });
  }

  /** The first end counts. */
  end(failure?: unknown): void {
    this.#end ??= { failure };
    this.#wake();
  }

  async *take(): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const next = this.#items.shift();
      if (next) {
        yield next.item;
        next.taken();
      } else if (this.#end) {
        if (this.#end.failure !== undefined) throw this.#end.failure;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
