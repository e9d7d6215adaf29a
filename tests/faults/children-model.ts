/** Sites with their children, what may happen to them, and what has to be there when all is calm again. */
import { type Client, ConfigMap, type KubeBody, Secret } from "@lotse/client";
import { type DesiredChild, Operator, resource } from "lotse";
import { z } from "zod";

export const Site = resource({
  group: "faults.example.com",
  version: "v1",
  kind: "Site",
  spec: z.object({ pages: z.array(z.string()), text: z.string(), locked: z.boolean() }),
  status: z.object({ text: z.string().optional() }),
});

/** What is asked of a site. */
export interface SiteSpec {
  readonly pages: readonly string[];
  readonly text: string;
  readonly locked: boolean;
}

/** How the operator is declared. `filtered`: blue sites have no children; `told`: a handler says what is in them. */
export const WAYS = ["owned", "found", "ordered", "reverse", "filtered", "told"] as const;
export type Way = (typeof WAYS)[number];

export const OPERATOR = "sites";
const MARK = `${OPERATOR}.lotse.dev/child`;

/** The operator whose children the tests look at. */
export function sitesOperator(way: Way): Operator {
  const operator = new Operator({ name: OPERATOR });
  const options = {
    id: "pages",
    ...((way === "owned" || way === "reverse") && { owns: [ConfigMap, Secret] }),
    ...(way === "reverse" && { deletion: "reverse" as const }),
    ...(way === "filtered" && { labels: { group: (group: string | undefined) => group !== BLUE } }),
  };
  operator.children(Site, options, ({ name, labels, spec, status }) => {
    const asked = way === "told" ? { ...spec, text: status.text ?? "" } : spec;
    return desiredOf(name, labels.group, asked, way === "ordered" || way === "reverse");
  });
  if (way === "told") {
    operator.on(["create", "update"], Site, { id: "tell" }, ({ spec, patch }) => {
      patch.status.text = spec.text;
    });
  }
  return operator;
}

/** The label of sites that one way of the operator is not for. */
const BLUE = "blue";

function desiredOf(name: string, group: string | undefined, spec: SiteSpec, ordered: boolean): DesiredChild[] {
  const labels = { group: group ?? "none" };
  const pages = spec.pages.map((page, at) => ({
    key: page,
    child: new ConfigMap({ metadata: { name: `${name}-${page}`, labels }, data: { text: spec.text } }),
    ...(ordered && at > 0 && { after: spec.pages[at - 1] as string }),
  }));
  const key = new Secret({ metadata: { name: `${name}-key`, labels }, data: { key: btoa(spec.text) } });
  return spec.locked ? [...pages, key] : pages;
}

/** One child, as far as it was asked for. */
export interface Child {
  readonly kind: string;
  readonly name: string;
  readonly group: string | undefined;
  readonly data: unknown;
  /** Uids. */
  readonly owners: readonly string[];
  readonly marked: boolean;
}

/** The children that the sites of a namespace shall have; names in `taken` are somebody else's config maps. */
export async function wantedChildren(client: Client, taken: ReadonlySet<string>, way?: Way): Promise<Child[]> {
  const wanted: Child[] = [];
  for await (const { name, uid, labels, body } of client.list(Site)) {
    if (way === "filtered" && labels.group === BLUE) continue;
    for (const one of desiredOf(name, labels.group, body.spec as SiteSpec, false)) {
      const { body: child } = ("child" in one ? one.child : one) as ConfigMap | Secret;
      const { name: called = "", labels: own } = child.metadata ?? {};
      if (child.kind === "ConfigMap" && taken.has(called)) continue;
      const { data } = child;
      wanted.push({
        kind: child.kind ?? "",
        name: called,
        group: own?.group,
        data,
        owners: [uid ?? ""],
        marked: true,
      });
    }
  }
  return wanted.sort(byName);
}

/** The config maps and secrets of a namespace that are nobody else's. */
export async function presentChildren(client: Client, taken: ReadonlySet<string>): Promise<Child[]> {
  const bodies: (KubeBody & { readonly data?: unknown })[] = [];
  for await (const { body } of client.list(ConfigMap)) {
    const { name = "" } = body.metadata ?? {};
    if (name !== "kube-root-ca.crt" && !taken.has(name)) bodies.push({ ...body, kind: "ConfigMap" });
  }
  for await (const { body } of client.list(Secret)) bodies.push({ ...body, kind: "Secret" });
  return bodies.map(childOf).sort(byName);
}

function childOf({ kind = "", metadata, data }: KubeBody & { readonly data?: unknown }): Child {
  const { name = "", labels, ownerReferences = [], annotations } = metadata ?? {};
  const owners = ownerReferences.map(({ uid }) => uid);
  return { kind, name, group: labels?.group, data, owners, marked: annotations?.[MARK] !== undefined };
}

function byName(a: Child, b: Child): number {
  return `${a.kind}/${a.name}` < `${b.kind}/${b.name}` ? -1 : 1;
}
