/** `lotse resume`: takes a pause back that `lotse freeze` has made. */
import type { Client } from "@lotse/client";
import { harmless, systemClock } from "@lotse/client/meta";
import {
  PAUSE_ANNOTATION,
  type Pause,
  parsePauses,
  parsePeers,
  personIdentity,
  placeOf,
  takePause,
} from "../coordination/index.ts";
import { confirmContext, connect } from "./connect/index.ts";
import { patchPeering } from "./freeze.ts";
import {
  checkTargets,
  leaseTargets,
  missingPeering,
  peeringTargets,
  type TargetOptions,
  targetProblem,
} from "./freeze-targets.ts";
import type { Io } from "./terminal/index.ts";
import { stopOnSignal } from "./terminal/index.ts";

/** See the module comment. That nothing was paused is no failure. */
export async function resume(operator: string | undefined, options: TargetOptions, io: Io): Promise<number> {
  checkTargets(operator, options);
  const stop = stopOnSignal(io);
  const { client, context } = await connect(options, io, (text) => io.stderr.write(`Warning: ${harmless(text)}\n`));
  try {
    await confirmContext(context, options.yes, io, stop.signal);
    const by = options.id ?? personIdentity(io.env);
    if (options.peering === undefined) await resumeLeases(operator, by, client, options, io);
    else await resumePeering(options.peering, by, client, options, io);
    return 0;
  } finally {
    stop[Symbol.dispose]();
    await client.close();
  }
}

async function resumeLeases(
  named: string | undefined,
  by: string,
  client: Client,
  options: TargetOptions,
  io: Io,
): Promise<void> {
  try {
    const { operator, leases } = await leaseTargets(client, named, options);
    for (const lease of leases) {
      const before = parsePauses(lease.metadata?.annotations?.[PAUSE_ANNOTATION]).pauses;
      const written = await takePause(client, lease, by, systemClock.now());
      if (!written) continue;
      const { pauses } = parsePauses(written.metadata?.annotations?.[PAUSE_ANNOTATION]);
      const others = pauses.filter(({ until }) => until > systemClock.now());
      const { namespace, name } = placeOf(written);
      const removed = before.some((pause) => pause.by === by);
      tell({ operator, namespace, lease: name }, `${namespace}/${name}`, { by, removed, others }, options, io);
    }
  } catch (error) {
    throw targetProblem(error, "resume an operator", "get, list and patch leases.coordination.k8s.io");
  }
}

async function resumePeering(name: string, by: string, client: Client, options: TargetOptions, io: Io): Promise<void> {
  const targets = await peeringTargets(client, name, options);
  const { kind, namespaces } = targets;
  for (const namespace of namespaces) {
    try {
      const place = namespace === undefined ? {} : { namespace };
      const { status } = (await client.get(kind, name, place)).body as { status?: unknown };
      const removed = parsePeers(status).has(by);
      if (removed) await patchPeering(client, targets, namespace, { [by]: null });
      const shown = `${kind.kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
      tell({ peering: name, kind: kind.kind, namespace }, shown, { by, removed, others: [] }, options, io);
    } catch (error) {
      const rights = `get and patch ${kind.plural}.${kind.group}`;
      throw targetProblem(missingPeering(targets, namespace, error), "resume operators", rights);
    }
  }
}

function tell(
  target: object,
  what: string,
  { by, removed, others }: { readonly by: string; readonly removed: boolean; readonly others: readonly Pause[] },
  options: TargetOptions,
  io: Io,
): void {
  if (options.output === "json") {
    io.stdout.write(`${JSON.stringify({ ...target, by, removed, pausedBy: others.map((pause) => pause.by) })}\n`);
    return;
  }
  const left = others.map((pause) => pause.by).join(", ");
  const still = left === "" ? "" : `, it is paused by ${left} (--id takes that back)`;
  const done = removed ? `the pause by ${by} is over` : `${by} has not paused it`;
  io.stdout.write(`${harmless(`${what}: ${done}${still}`)}\n`);
}
