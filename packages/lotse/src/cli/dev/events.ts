/** Follows the Kubernetes Events about the objects of an operator: what others in the cluster say about them. */
import { allNamespaces, type Client, describeKind, type KubeBody } from "@lotse/client";
import type { StreamHealth } from "../../report/index.ts";
import type { EventNote } from "./log.ts";

const EVENT = describeKind({ group: "", version: "v1", kind: "Event" });

/** What the framework posts, its log says as well: once is enough. Events that handlers post are in no log. */
const IN_THE_LOG = new Set([
  "HandlerSucceeded",
  "HandlerRetrying",
  "HandlerFailed",
  "DeletionFailed",
  "WorkFailed",
  "HotLoop",
  "BaseTooLarge",
  "RecordUnreadable",
  "Logging",
]);

/** Whose objects count: the streams of the operators, and their names. */
export interface Watched {
  readonly operators: readonly string[];
  readonly streams: readonly Pick<StreamHealth, "kind" | "namespace">[];
}

/** The Event in `body`, if it tells something new about an object of `watched`. */
export function noteOf(body: KubeBody, watched: Watched, now: number): EventNote | undefined {
  const { involvedObject: object, type, reason = "", message, note, source, ...rest } = body as EventBody;
  const { kind, name, namespace } = object ?? {};
  if (!object || !kind || !name) return undefined;
  const isWatched = watched.streams.some(
    (stream) => stream.kind === kind && (stream.namespace === undefined || stream.namespace === namespace),
  );
  const from = rest.reportingComponent || source?.component;
  const own = from !== undefined && watched.operators.includes(from) && IN_THE_LOG.has(reason);
  if (!isWatched || own) return undefined;
  return {
    // When it arrived: Events carry whole seconds, which would put them before the lines that led to them.
    time: now,
    type: type === "Warning" ? "Warning" : "Normal",
    reason,
    message: message ?? note ?? "",
    from,
    count: rest.series?.count ?? rest.count ?? 1,
    object: { apiVersion: object.apiVersion ?? "", kind, namespace, name, uid: object.uid },
  };
}

/** What is read of an Event, of whichever form. */
interface EventBody extends KubeBody {
  readonly involvedObject?: {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
  };
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly note?: string;
  readonly count?: number;
  readonly series?: { readonly count?: number };
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

/** How {@link followEvents} follows. */
export interface FollowOptions {
  readonly watched: () => Watched;
  readonly onEvent: (note: EventNote) => void;
  /** They cannot be seen at present; told once for each reason. */
  readonly onTrouble: (error: unknown) => void;
  readonly now: () => number;
}

/** Follows until `signal` aborts; resolves when it has ended. */
export async function followEvents(client: Client, signal: AbortSignal, o: FollowOptions): Promise<void> {
  let told: string | undefined;
  const trouble = (error: unknown) => {
    const text = String((error as Error | undefined)?.message ?? error);
    if (text !== told) o.onTrouble(error);
    told = text;
  };
  const watch = client.watch(EVENT, {
    namespace: allNamespaces,
    initial: "none",
    signal,
    onState: (state) => {
      if (state.phase === "waiting" && state.error !== undefined) trouble(state.error);
    },
  });
  try {
    for await (const { type, object } of watch) {
      const note = type === "DELETED" ? undefined : noteOf(object.body, o.watched(), o.now());
      if (note) o.onEvent(note);
    }
  } catch (error) {
    if (!signal.aborted) trouble(error);
  }
}
