/** One supervised stream for each kind and scope, however many handlers: the client's reflector, for whole bodies. */
import {
  type Client,
  type KindDescription,
  type KubeBody,
  Reflector,
  type ReflectorChange,
  type ReflectorListener,
  type StreamOptions,
  type StreamState,
} from "@lotse/client";
import type { Clock, LabelSelector, ShardSelector } from "@lotse/client/meta";

/** What an informer tells of single objects. */
export type ObjectListener = Required<Pick<ReflectorListener<KubeBody>, "changed" | "echoed" | "gone">> &
  Pick<ReflectorListener<KubeBody>, "keeps" | "cut" | "dropped"> & {
    /** What `keeps` keeps, as a server can be asked for it; undefined: it cannot. */
    shard?(): ShardSelector | undefined;
    /** Whether `cut` leaves nothing but metadata. */
    metadataOnly?(): boolean;
    /** Labels that all objects have which anybody here looks at, beside what the settings say. */
    commonLabels?(): LabelSelector;
  };

/** How an object has changed. */
export type InformerChange = ReflectorChange<KubeBody>;

/** What an informer is made of. */
export interface InformerOptions {
  readonly client: Client;
  readonly kind: KindDescription;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly listener: ObjectListener;
  /** The first list is complete. */
  readonly onSynced: () => void;
  /** A list is complete, the first one or another. */
  readonly onListed?: () => void;
  /** The stream's state changed. */
  readonly onState: (state: StreamState) => void;
  /** The part of the objects that is wanted, where a server can be asked for it. */
  readonly shardSelector?: StreamOptions["shardSelector"];
  /** Whether only metadata are wanted, where a server can be asked for them. */
  readonly metadataOnly?: StreamOptions["metadataOnly"];
  readonly labelSelector?: StreamOptions["labelSelector"];
  readonly fieldSelector?: StreamOptions["fieldSelector"];
  readonly initialStreaming?: StreamOptions["initialStreaming"];
  readonly onListInstead?: StreamOptions["onListInstead"];
  readonly inactivityMs?: number;
  readonly serverTimeoutMs?: number;
  readonly backoff?: (failures: number, random: number) => number;
  /** Called when the stream begins to wait; see {@link StreamOptions}. */
  readonly onWait?: StreamOptions["onWait"];
  readonly pageSize?: number;
}

/** A reflector that knows its kind. */
export class Informer extends Reflector<KubeBody> {
  readonly #kind: KindDescription;

  constructor({ client, kind, listener, onSynced, onListed, onState, ...how }: InformerOptions) {
    super(client, how, {
      changed: (body, change) => listener.changed(body, change),
      echoed: (body) => listener.echoed(body),
      gone: (body, before) => listener.gone(body, before),
      ...(listener.keeps && { keeps: (body: KubeBody) => listener.keeps?.(body) !== false }),
      ...(listener.cut && { cut: (body: KubeBody) => listener.cut?.(body) ?? body }),
      dropped: (body) => listener.dropped?.(body),
      onSynced,
      onListed: () => onListed?.(),
      state: onState,
    });
    this.#kind = kind;
  }

  /** Streams until `signal` aborts. May be called again, also for another version of the kind. */
  override run(signal: AbortSignal, kind = this.#kind): Promise<void> {
    return super.run(signal, kind);
  }
}
