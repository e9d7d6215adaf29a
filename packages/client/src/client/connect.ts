import { type AccessOptions, openAccess, printWarningsOnce, tellOnce } from "../config/index.ts";
import { KindRegistry } from "../kinds/index.ts";
import { type Duration, durationMs, systemClock } from "../meta/index.ts";
import type { AnyObject, ClientCore, KindClass } from "../objects/index.ts";
import {
  HttpTransport,
  type LimitOptions,
  limitsOf,
  ServerReachability,
  type Transport,
  tellingReachability,
} from "../transport/index.ts";

/** How to connect; everything has a default. */
export interface ConnectOptions extends AccessOptions {
  /** Default `lotse-client/<version> node/<version> (<platform>)`. */
  readonly userAgent?: string | undefined;
  /** For each call, retries included; streams are only limited while they connect. Default 30 s. */
  readonly timeout?: Duration | undefined;
  /** The name under which the server remembers who wrote a field. Default `lotse-client`. */
  readonly fieldManager?: string | undefined;
  /** Classes for `client.object()` and `client.classFor()`: own kinds, and own classes for built-in ones. */
  readonly kinds?: readonly KindClass<AnyObject>[] | undefined;
  readonly random?: (() => number) | undefined;
  /** How much of the server's answers is kept in memory; more is a {@link TooLargeError}. */
  readonly limits?: LimitOptions | undefined;
  /** Carries the requests instead of HTTP; for tests, and for servers in the same process. Needs `url` for its name. */
  readonly transport?: Transport | undefined;
  /** With `transport`: what `client.config` of the client behind it says, for those who ask where they are. */
  readonly config?: ClientCore["access"] | undefined;
}

const DEFAULT_TIMEOUT = "30s";

/** Reads the configuration and sets up what a client and its views share. */
export async function openCore(o: ConnectOptions): Promise<{ core: ClientCore; fieldManager: string }> {
  const clock = o.clock ?? systemClock;
  const random = o.random ?? Math.random;
  const limits = limitsOf(o.limits);
  const onWarning = o.onWarning ?? printWarningsOnce();
  const { credentials, headers, ...found } = await openAccess({ ...o, onWarning });
  const access = o.transport && o.config ? { ...found, ...o.config } : found;
  const reachability = new ServerReachability(clock);
  const carrier =
    o.transport ??
    new HttpTransport(
      { ...found, credentials, headers },
      {
        clock,
        random,
        timeoutMs: durationMs(o.timeout ?? DEFAULT_TIMEOUT),
        userAgent: o.userAgent,
        onWarning,
        answerBytes: limits.answerBytes,
        // For one release: whoever finds that connections of our own do less well can go back.
        http: (o.env ?? process.env).LOTSE_HTTP === "node" ? "node" : "own",
      },
    );
  const transport = tellingReachability(carrier, reachability);
  const registry = new KindRegistry((request) => transport.request(request), clock);
  const warnOnce = tellOnce(onWarning);
  const core = { access, credentials, headers, transport, reachability, registry, clock, random, warnOnce, limits };
  return { core, fieldManager: o.fieldManager ?? "lotse-client" };
}
