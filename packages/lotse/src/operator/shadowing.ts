/** An operator as a shadow: what of its settings is different, and what the shadow is told of it. */
import type { Client, KubeBody } from "@lotse/client";
import { type Clock, durationMs, identityKeyOf, objectKeyOf } from "@lotse/client/meta";
import type { Declarations, OperatorOptions, Settings } from "../declare/index.ts";
import type { Logger, Metrics, ObjectReference } from "../report/index.ts";
import type { Bookkeeping, Shadow, ShadowOptions } from "../shadow/index.ts";
import { allStorages } from "../turn/index.ts";
import type { Kinds } from "./kinds.ts";
import type { InternalStartOptions, RunningShadow, StartOptions } from "./options.ts";

/**
 * What goes for every shadow, whatever its operator says: the framework's own writes are not even tried. Its client would
 * make dry runs of them, but nobody wants to compare those.
 */
export function asShadow<O extends InternalStartOptions>(options: O): O {
  return {
    ...options,
    events: "none",
    crds: "wait",
    coordination: "alone",
    coordinator: undefined,
    webhooks: { ...options.webhooks, register: false },
  };
}

/** What a shadow is made of. */
export interface ShadowedOperator {
  readonly client: Client;
  readonly options: ShadowOptions;
  readonly operator: OperatorOptions;
  readonly declarations: Declarations;
  readonly settings: Settings;
  readonly namespaces: StartOptions["namespaces"];
  readonly kinds: Kinds;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Opens the shadow's world, which is loaded for shadows alone: a seventh of the code that every operator starts with. */
export async function castShadow(shadowed: ShadowedOperator): Promise<Shadow> {
  const { client, options, operator, kinds, namespaces, clock, random, logger, metrics } = shadowed;
  const { Shadow } = await import("../shadow/index.ts");
  return Shadow.open({
    operator: operator.name,
    formerNames: operator.formerNames ?? [],
    client,
    options,
    clock,
    random,
    logger,
    metrics,
    bookkeeping: bookkeepingOf(shadowed),
    byNamespace: namespaces !== undefined,
    isBusy: (object) => isBusy(kinds, object),
  });
}

/** Records lie in all places where this version, or one before it, may have left them. */
function bookkeepingOf({ operator, settings, declarations }: ShadowedOperator): Bookkeeping {
  const { storage, finalizer } = settings.persistence;
  const storages = allStorages(operator.name, operator.formerNames ?? [], storage);
  const finalizers = storages.flatMap((one) => [one.finalizer, ...(one.formerFinalizers ?? [])]);
  const ids = declarations.resources.flatMap(({ handlers }) =>
    handlers.filter(({ type }) => type === "change").map(({ id }) => id),
  );
  return {
    clear: (body: KubeBody) => storages.reduce((rest, one) => one.write(rest, undefined, ids), body),
    finalizers: new Set(finalizer === undefined ? finalizers : [...finalizers, finalizer]),
  };
}

function isBusy(kinds: Kinds, { apiVersion, kind, namespace, name, uid }: ObjectReference): boolean {
  const slash = apiVersion.indexOf("/");
  const group = slash < 0 ? "" : apiVersion.slice(0, slash);
  return kinds.controllers.some((controller) => {
    if (controller.kind.kind !== kind || controller.kind.group !== group) return false;
    const key = objectKeyOf(controller.kind.namespaced ? namespace : undefined, name);
    return controller.isBusy(identityKeyOf(key, uid ?? ""));
  });
}

/** What can be asked of the shadow, from the start on. */
export function shadowFace(shadow: () => Shadow | undefined, ready: Promise<void>): RunningShadow {
  return {
    report: () => shadow()?.report() ?? NOTHING_YET,
    async quiet(duration, { signal } = {}) {
      await ready;
      return (await shadow()?.quiet(durationMs(duration), signal)) ?? NOTHING_YET;
    },
  };
}

const NOTHING_YET = {
  operator: "",
  beside: [],
  fromScratch: false,
  differences: [],
  undecided: [],
  untried: [],
  kinds: [],
  compared: 0,
  over: 0,
  unsettled: 0,
  quietMs: 0,
} as const;
