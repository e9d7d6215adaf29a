/** What may we do? Asks the server, and compares it with what operators need. Decisions are below the questions. */
import { setMaxListeners } from "node:events";
import { type authorizationv1, type Client, KubeError, Namespace } from "@lotse/client";
import { toYamlStream } from "@lotse/client/meta";
import { parseNamespaces } from "../../declare/index.ts";
import { byNamespace, type GrantInput, grantManifests, type Need, rulesFor } from "../../generate/index.ts";

/** What is missing, and what could not be found out. */
export interface PermissionReview {
  /** Of the whole cluster; each with the verbs that are missing. */
  readonly inCluster: readonly Need[];
  /** By namespace. */
  readonly inNamespaces: ReadonlyMap<string, readonly Need[]>;
  /** Why some questions have no answer, if so. Nothing is called missing on a guess. */
  readonly unanswered: string | undefined;
}

/** Whether anything is missing. */
export function lacksAny({ inCluster, inNamespaces }: PermissionReview): boolean {
  return inCluster.length > 0 || inNamespaces.size > 0;
}

/**
 * Looks for each of `needs` where it is needed. For a single namespace one question brings all its rules; for the whole
 * cluster there is no such question, hence exactly what is needed is asked. All at the same time.
 */
export async function reviewPermissions(
  client: Client,
  needs: readonly Need[],
  namespaces: readonly string[] | undefined,
  signal?: AbortSignal,
  ownNamespace?: string,
): Promise<PermissionReview> {
  const server = new Server(client, signal);
  const own = needs.filter(({ inOwnNamespace }) => inOwnNamespace);
  if (own.length > 0) {
    const others = needs.filter(({ inOwnNamespace }) => !inOwnNamespace);
    const places = [...byNamespace(own, ownNamespace ?? client.config.namespace)];
    const [review, ...found] = await Promise.all([
      reviewPermissions(client, others, namespaces, signal),
      ...places.map(([namespace, needed]) => server.lackingIn([namespace], needed)),
    ]);
    return joined(review, new Map(found.flatMap((one) => [...one])), server.refusal);
  }
  const filter = namespaces && parseNamespaces(namespaces);
  const everywhere = needs.filter(({ clusterWide }) => clusterWide || !filter?.exact);
  const served = needs.filter(({ clusterWide }) => !clusterWide);
  const [lacking, named] = await Promise.all([
    server.lackingInCluster(everywhere),
    server.lackingIn(filter?.exact ?? [], served),
  ]);
  // Roles in each namespace that a pattern takes are as good as one for the whole cluster.
  const byPattern = filter && !filter.exact ? lacking.filter(({ clusterWide }) => !clusterWide) : [];
  if (byPattern.length === 0 || !filter) return { inCluster: lacking, inNamespaces: named, unanswered: server.refusal };
  const matching = (await server.namespaces()).filter((name) => filter.matches(name));
  const found = await server.lackingIn(matching.length > 0 ? matching : filter.named, byPattern);
  const none = matching.length === 0 && filter.named.length === 0;
  const inCluster = lacking.filter((need) => need.clusterWide || none);
  return { inCluster, inNamespaces: found, unanswered: server.refusal };
}

/** What is missing beside the operator itself, with what is missing elsewhere. */
function joined(
  { inCluster, inNamespaces, unanswered }: PermissionReview,
  own: ReadonlyMap<string, readonly Need[]>,
  refusal: string | undefined,
): PermissionReview {
  const all = new Map(inNamespaces);
  for (const [namespace, needs] of own) all.set(namespace, [...(all.get(namespace) ?? []), ...needs]);
  return { inCluster, inNamespaces: all, unanswered: unanswered ?? refusal };
}

/** The server's answers; a question that it refuses counts as a yes, and is remembered. */
class Server {
  readonly #client: Client;
  readonly #signal: AbortSignal | undefined = undefined;
  #refusal: string | undefined;

  constructor(client: Client, signal: AbortSignal | undefined) {
    this.#client = client;
    if (!signal) return;
    // Each question listens to it, and they are asked all at once.
    this.#signal = AbortSignal.any([signal]);
    setMaxListeners(0, this.#signal);
  }

  /** Why a question was refused. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  async lackingInCluster(needs: readonly Need[], namespace?: string): Promise<Need[]> {
    const asked = await Promise.all(
      needs.map(async (need) => {
        const allowed = await Promise.all(need.verbs.map((verb) => this.#may(need, verb, namespace)));
        return { ...need, verbs: need.verbs.filter((_, i) => allowed[i] !== true) };
      }),
    );
    return asked.filter(({ verbs }) => verbs.length > 0);
  }

  async lackingIn(namespaces: readonly string[], needs: readonly Need[]): Promise<Map<string, Need[]>> {
    const found = await Promise.all(
      namespaces.map(async (namespace): Promise<[string, Need[]]> => {
        const { rules, incomplete } = await this.#rulesIn(namespace);
        const lacking = lackingUnder(rules, needs);
        // There may be rules that the server cannot tell; whether they allow it, it can.
        return [namespace, incomplete ? await this.lackingInCluster(lacking, namespace) : lacking];
      }),
    );
    return new Map(found.filter(([, lacking]) => lacking.length > 0));
  }

  async namespaces(): Promise<string[]> {
    const names: string[] = [];
    try {
      for await (const { name } of this.#client.list(Namespace, this.#options)) names.push(name);
    } catch (error) {
      this.#remember(error);
    }
    return names;
  }

  async #may({ group, resource, names }: Need, verb: string, namespace: string | undefined): Promise<boolean> {
    const [plural, subresource] = resource.split("/");
    const ask = (name?: string) =>
      this.#post<authorizationv1.SelfSubjectAccessReview>("SelfSubjectAccessReview", {
        resourceAttributes: { group, resource: plural, subresource, verb, namespace, name },
      });
    const answers = await Promise.all((names ?? [undefined]).map(ask));
    return answers.every((answer) => answer === undefined || answer.status?.allowed === true);
  }

  async #rulesIn(namespace: string): Promise<{ rules: readonly ServerRule[]; incomplete: boolean }> {
    const answer = await this.#post<authorizationv1.SelfSubjectRulesReview>("SelfSubjectRulesReview", { namespace });
    return { rules: answer?.status?.resourceRules ?? [], incomplete: answer?.status?.incomplete !== false };
  }

  async #post<T>(kind: string, spec: object): Promise<T | undefined> {
    const api = "authorization.k8s.io/v1";
    try {
      const answer = await this.#client.raw({
        ...this.#options,
        method: "POST",
        path: `/apis/${api}/${kind.toLowerCase()}s`,
        body: { apiVersion: api, kind, spec },
      });
      return await answer.json<T>();
    } catch (error) {
      return this.#remember(error);
    }
  }

  #remember(error: unknown): undefined {
    if (!(error instanceof KubeError)) throw error;
    this.#refusal ??= error.message;
    return undefined;
  }

  get #options() {
    return this.#signal ? { signal: this.#signal } : {};
  }
}

/** A rule as the server tells it. */
export type ServerRule = Pick<authorizationv1.ResourceRule, "verbs" | "apiGroups" | "resources" | "resourceNames">;

/** Of each need what no rule allows. */
export function lackingUnder(rules: readonly ServerRule[], needs: readonly Need[]): Need[] {
  return needs
    .map((need) => ({ ...need, verbs: need.verbs.filter((verb) => !isAllowed(rules, need, verb)) }))
    .filter(({ verbs }) => verbs.length > 0);
}

function isAllowed(rules: readonly ServerRule[], { group, resource, names }: Need, verb: string): boolean {
  const has = (list: readonly string[] | undefined, value: string) => list?.includes(value) || list?.includes("*");
  const [, subresource] = resource.split("/");
  const fitting = rules.filter(
    (rule) =>
      has(rule.verbs, verb) &&
      has(rule.apiGroups, group) &&
      (has(rule.resources, resource) || (subresource !== undefined && rule.resources?.includes(`*/${subresource}`))),
  );
  const all = fitting.some(({ resourceNames = [] }) => resourceNames.length === 0);
  return all || (names?.every((name) => fitting.some((rule) => rule.resourceNames?.includes(name))) ?? false);
}

/** `get, list, watch exchangerates.rates.example.com in team-a`, one for each thing that is missing. */
export function missingTexts({ inCluster, inNamespaces }: PermissionReview): string[] {
  const tell = (needs: readonly Need[], where: string) =>
    rulesFor(needs).flatMap(({ apiGroups: [group = ""], resources, verbs }) =>
      resources.map((resource) => {
        const [plural = "", subresource] = resource.split("/");
        const kind = `${plural}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
        return `${verbs.join(", ")} ${kind}${where}`;
      }),
    );
  return [
    ...tell(inCluster, ""),
    ...[...inNamespaces].flatMap(([namespace, needs]) => tell(needs, ` in ${namespace}`)),
  ];
}

/** The manifests that give what is missing, as text to be applied. */
export function grantText(review: PermissionReview, { name, user }: Pick<GrantInput, "name" | "user">): string {
  return toYamlStream(grantManifests({ name, user, ...review }));
}
