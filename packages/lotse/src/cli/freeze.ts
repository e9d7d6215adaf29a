/** `lotse freeze`: an operator does nothing for a while, by its Lease, or by a peering object in Kopf's form. */
import type { Client, KubeBody } from "@lotse/client";
import { type Clock, formatDuration, harmless, sleep, systemClock } from "@lotse/client/meta";
import {
  formatPeer,
  PAUSE_PRIORITY,
  type Pause,
  parsePeers,
  personIdentity,
  placeOf,
  putPause,
  untilHeard,
} from "../coordination/index.ts";
import { confirmContext, connect } from "./connect/index.ts";
import {
  checkTargets,
  leaseTargets,
  missingPeering,
  type PeeringTargets,
  peeringTargets,
  type TargetOptions,
  targetProblem,
} from "./freeze-targets.ts";
import type { Io } from "./terminal/index.ts";
import { stopOnSignal } from "./terminal/index.ts";

/** The flags of `lotse freeze`. */
export interface FreezeOptions extends TargetOptions {
  readonly priority?: number | undefined;
  readonly lifetime?: number | undefined;
  readonly message?: string | undefined;
}

/** How long a pause lasts unless it is told otherwise. */
const LIFETIME_MS = 300_000;

/** So long peers are waited for that say whether they have stopped. */
const STOPPING_MS = 15_000;

/** See the module comment. */
export async function freeze(operator: string | undefined, options: FreezeOptions, io: Io): Promise<number> {
  checkTargets(operator, options);
  const stop = stopOnSignal(io);
  const { client, context } = await connect(options, io, (text) => io.stderr.write(`Warning: ${harmless(text)}\n`));
  try {
    await confirmContext(context, options.yes, io, stop.signal);
    const { priority = PAUSE_PRIORITY, lifetime = LIFETIME_MS, message } = options;
    const clock = systemClock;
    const pause: Pause = {
      by: options.id ?? personIdentity(io.env),
      until: clock.now() + lifetime,
      priority,
      lifetimeMs: lifetime,
      ...(message !== undefined && { message }),
    };
    const freezer = { client, clock, pause, options, io, signal: stop.signal };
    if (options.peering === undefined) await freezeLeases(operator, freezer);
    else await freezePeering(options.peering, freezer);
    return 0;
  } finally {
    stop[Symbol.dispose]();
    await client.close();
  }
}

interface Freezer {
  readonly client: Client;
  readonly clock: Clock;
  readonly pause: Pause;
  readonly options: FreezeOptions;
  readonly io: Io;
  readonly signal: AbortSignal;
}

async function freezeLeases(named: string | undefined, freezer: Freezer): Promise<void> {
  const { client, clock, pause, signal } = freezer;
  const rights = "get, list and patch leases.coordination.k8s.io";
  try {
    const { operator, leases } = await leaseTargets(client, named, freezer.options);
    for (const lease of leases) {
      const written = await putPause(client, lease, pause, clock.now());
      if (!written) continue;
      const heard = await untilHeard(written, { client, clock }, signal);
      const { namespace, name } = placeOf(written);
      const holder = written.spec?.holderIdentity || undefined;
      const state = heard ? `, ${holder} writes nothing any more` : holder === undefined ? ", nobody works anyway" : "";
      tell(freezer, { operator, namespace, lease: name, holder, heard }, `${namespace}/${name}`, state);
    }
    advise(freezer, `${operator}${placeFlags(freezer.options)}`);
  } catch (error) {
    throw targetProblem(error, "pause an operator", rights);
  }
}

async function freezePeering(name: string, freezer: Freezer): Promise<void> {
  const { client, pause, clock } = freezer;
  const targets = await peeringTargets(client, name, freezer.options);
  const { kind, namespaces } = targets;
  const rights = `get and patch ${kind.plural}.${kind.group}`;
  const { by, priority, lifetimeMs = 0, message } = pause;
  for (const namespace of namespaces) {
    try {
      const record = formatPeer({ priority, lifetimeMs, now: clock.now(), message });
      await patchPeering(client, targets, namespace, { [by]: record });
      const working = await untilStopped(targets, namespace, freezer);
      const shown = `${kind.kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
      const state = working.length > 0 ? `, ${working.join(", ")} has not said that it has stopped` : "";
      tell(freezer, { peering: name, kind: kind.kind, namespace, working }, shown, state);
    } catch (error) {
      throw targetProblem(missingPeering(targets, namespace, error), "pause operators", rights);
    }
  }
  advise(freezer, `--peering ${name}${placeFlags(freezer.options)}`);
}

/** Writes records into a peering object; null removes one. */
export async function patchPeering(
  client: Client,
  { kind, name }: PeeringTargets,
  namespace: string | undefined,
  status: Readonly<Record<string, unknown>>,
): Promise<KubeBody> {
  const subresource = kind.subresources.includes("status") ? { subresource: "status" } : {};
  const options = { ...subresource, ...(namespace !== undefined && { namespace }) };
  return (await client.patch(kind, name, { status } as never, options)).body as KubeBody;
}

/** Peers of Lotse say when nothing of them runs any more; who has not in time. Those of Kopf say nothing. */
async function untilStopped(
  { kind, name }: PeeringTargets,
  namespace: string | undefined,
  { client, clock, pause, signal }: Freezer,
): Promise<string[]> {
  const deadline = clock.monotonic() + STOPPING_MS;
  for (;;) {
    const { body } = await client.get(kind, name, { ...(namespace !== undefined && { namespace }) });
    const working = [...parsePeers((body as KubeBody).status).values()]
      .filter(({ lotse, priority }) => lotse?.says === "working" && priority <= pause.priority)
      .filter(({ lastSeen = 0, lifetimeMs }) => lastSeen + lifetimeMs > clock.now())
      .map(({ identity }) => identity);
    if (working.length === 0 || clock.monotonic() >= deadline || signal.aborted) return working;
    await sleep(clock, 250, signal).catch(() => undefined);
  }
}

function tell({ pause, options, io }: Freezer, more: object, what: string, state: string): void {
  const { by, priority, until, message, lifetimeMs = 0 } = pause;
  if (options.output === "json") {
    const told = { ...more, by, priority, until: new Date(until).toISOString(), message };
    io.stdout.write(`${JSON.stringify(told)}\n`);
    return;
  }
  const line = `${what}: paused for ${formatDuration(lifetimeMs)} by ${by} with priority ${priority}${state}`;
  io.stdout.write(`${harmless(line)}\n`);
}

/** How to take it back. */
function advise({ options, io }: Freezer, words: string): void {
  const { output, id } = options;
  if (output === "json") return;
  io.stdout.write(`${harmless(`End it with: lotse resume ${words}${id === undefined ? "" : ` --id ${id}`}`)}\n`);
}

function placeFlags({ namespace = [], allNamespaces }: FreezeOptions): string {
  return allNamespaces ? " -A" : namespace.map((name) => ` -n ${name}`).join("");
}
