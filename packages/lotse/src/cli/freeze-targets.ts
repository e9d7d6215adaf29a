/** Whom `lotse freeze` and `lotse resume` mean, and what keeps them from it. */
import { type Client, ForbiddenError, type KindDescription, Namespace, NotFoundError } from "@lotse/client";
import { findLeases, findPeeringKind, operatorsWithLeases, peeringNames } from "../coordination/index.ts";
import { parseNamespaces } from "../declare/index.ts";
import type { ConnectOptions } from "./connect/index.ts";
import { Problem, similarNames } from "./terminal/index.ts";

/** The flags that both commands have. */
export interface TargetOptions extends ConnectOptions {
  readonly namespace?: readonly string[] | undefined;
  readonly allNamespaces?: boolean | undefined;
  /** The name of peering objects: these are written to, instead of Leases. */
  readonly peering?: string | undefined;
  readonly id?: string | undefined;
  readonly yes?: boolean | undefined;
  readonly output?: "json" | undefined;
}

/** A {@link Problem} for flags that contradict each other, before anything is asked. */
export function checkTargets(operator: string | undefined, options: TargetOptions): void {
  const { namespace = [], allNamespaces, peering } = options;
  if (namespace.length > 0 && allNamespaces) {
    throw new Problem(
      { what: "--namespace and --all-namespaces exclude each other", todo: "leave one of them out" },
      { exitCode: 2 },
    );
  }
  if (operator !== undefined && peering !== undefined) {
    throw new Problem(
      {
        what: `${operator} and --peering exclude each other`,
        why: `the peering object ${peering} pauses everybody who looks at it`,
        todo: "leave one of them out",
      },
      { exitCode: 2 },
    );
  }
}

/** A Lease as the API server has it. */
export type LeaseTarget = Awaited<ReturnType<typeof findLeases>>[number];

/** The Leases of the operator; a {@link Problem} when there is none. */
export async function leaseTargets(
  client: Client,
  operator: string | undefined,
  options: TargetOptions,
): Promise<{ readonly operator: string; readonly leases: readonly LeaseTarget[] }> {
  const places = options.allNamespaces ? [undefined] : await namespacesOf(client, options.namespace);
  const named = operator ?? (await onlyOperator(client, places));
  const leases: LeaseTarget[] = [];
  for (const namespace of places) leases.push(...(await findLeases(client, { operator: named, namespace })));
  if (leases.length === 0) throw await noLease(client, named, places);
  return { operator: named, leases };
}

async function onlyOperator(client: Client, places: readonly (string | undefined)[]): Promise<string> {
  const found = await Promise.all(places.map((namespace) => operatorsWithLeases(client, namespace)));
  const names = [...new Set(found.flat())];
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  throw new Problem(
    only === undefined
      ? { what: `there is no Lease of an operator ${where(places)}`, why: NO_LEASE, todo: CHOOSE }
      : { what: `there are several operators ${where(places)}`, todo: `name one of ${names.join(", ")}` },
    { exitCode: only === undefined ? 1 : 2 },
  );
}

const NO_LEASE = "an operator that runs alone coordinates with nobody, and cannot be told to pause";
const CHOOSE = 'choose its namespace with -n or -A; run it with coordination: "leader", or scale it down';

async function noLease(client: Client, operator: string, places: readonly (string | undefined)[]): Promise<Problem> {
  // Only for the advice: whoever may not list Leases gets none.
  const found = await Promise.all(places.map((one) => operatorsWithLeases(client, one).catch(() => [])));
  const near = similarNames(operator, found.flat());
  return new Problem({
    what: `there is no Lease of the operator ${operator} ${where(places)}`,
    why: NO_LEASE,
    todo: near.length > 0 ? `did you mean ${near.join(" or ")}? Else ${CHOOSE}` : CHOOSE,
  });
}

function where(places: readonly (string | undefined)[]): string {
  const named = places.filter((one) => one !== undefined);
  if (named.length === 0) return "in any namespace";
  return `in the namespace${named.length > 1 ? "s" : ""} ${named.join(", ")}`;
}

/** Where peering objects are written to. */
export interface PeeringTargets {
  readonly kind: KindDescription;
  readonly name: string;
  /** Undefined: that of the whole cluster. */
  readonly namespaces: readonly (string | undefined)[];
}

/** The peering objects that are meant; a {@link Problem} when the cluster does not know them. */
export async function peeringTargets(client: Client, name: string, options: TargetOptions): Promise<PeeringTargets> {
  const clusterwide = options.allNamespaces === true || (options.namespace ?? []).length === 0;
  const kind = await findPeeringKind(client, clusterwide);
  const { kind: kindName } = peeringNames(clusterwide);
  if (!kind) {
    throw new Problem({
      what: `the cluster has no kind ${kindName}`,
      why: "neither kopf.dev/v1 nor zalando.org/v1 has it",
      todo: "install Kopf's definition of it, or leave --peering out to pause an operator by its Lease",
    });
  }
  const namespaces = clusterwide ? [undefined] : await namespacesOf(client, options.namespace);
  return { kind, name, namespaces };
}

/** The namespaces that patterns mean; without any, the client's own. */
async function namespacesOf(client: Client, patterns: readonly string[] | undefined): Promise<readonly string[]> {
  if (patterns === undefined || patterns.length === 0) return [client.namespace];
  const filter = parseNamespaces(patterns);
  if (filter.exact) return filter.exact;
  const all = await client.list(Namespace).toArray();
  return all.map(({ name }) => name).filter((name) => filter.matches(name));
}

/** What a failed request means to whoever called the command. */
export function targetProblem(error: unknown, verb: string, rights: string): unknown {
  if (error instanceof ForbiddenError) {
    const todo = `ask for the right to ${rights}`;
    return new Problem({ what: `you may not ${verb} here`, why: error.message, todo }, { cause: error });
  }
  return error;
}

/** A {@link Problem} for a peering object that is not there. */
export function missingPeering({ kind, name }: PeeringTargets, namespace: string | undefined, cause: unknown): unknown {
  if (!(cause instanceof NotFoundError)) return cause;
  const place = namespace === undefined ? "" : ` in the namespace ${namespace}`;
  return new Problem(
    {
      what: `there is no ${kind.kind} ${name}${place}`,
      why: "operators that look at none work as if they were alone",
      todo: `choose another with --peering, or create it; \`kubectl get ${kind.plural} -A\` shows those that there are`,
    },
    { cause },
  );
}
