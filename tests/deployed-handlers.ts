/**
 * An operator whose handlers ask for more than the framework does, and what is left of it when it is deployed: its
 * service account with the generated role. Nobody has recorded what it does.
 */
import { loadAll } from "js-yaml";
import type { Client, KubeBody } from "lotse/client";

/** For each Probe a ConfigMap with what a command in a pod says; part of the work is in another file. */
export const OPERATOR_TS = `
import { Operator, resource } from "lotse";
import { ConfigMap, Pod } from "lotse/client";
import { z } from "zod";
import { nameOfKernel } from "./kernel.ts";

export const Probe = resource({
  group: "probes.example.com",
  version: "v1",
  kind: "Probe",
  spec: z.object({ pod: z.string() }),
  status: z.object({ said: z.string().optional() }),
});

const operator = new Operator({ name: "probes" });

operator.on.create(Probe, async function probe({ spec, name, adopt, client, patch }) {
  const pod = await client.get(Pod, spec.pod);
  const said = await nameOfKernel(pod);
  await client.create(adopt(ConfigMap.gen({ name, data: { said } })));
  patch.status.said = said;
});

operator.timer(Probe, { interval: "1h" }, async function look({ object, client }) {
  const children = await client.list(ConfigMap, { labelSelector: { probe: object.name } }).toArray();
  for (const child of children) await child.delete();
  await object.label({ looked: "yes" });
});

export default operator;
`;

/** Where there is no kubelet, the server says so; but it says so only to those who may ask. */
export const KERNEL_TS = `
import { ApiError, ForbiddenError, type Pod } from "lotse/client";

export async function nameOfKernel(pod: Pod): Promise<string> {
  try {
    return (await pod.exec(["uname"])).stdout.trim();
  } catch (error) {
    if (error instanceof ForbiddenError || !(error instanceof ApiError)) throw error;
    return "nobody";
  }
}
`;

/** What the handlers need, and nothing else of theirs. */
export const HANDLER_RIGHTS = [
  "configmaps: create delete list",
  "pods: get",
  "pods/exec: create get",
  "probes: get list patch watch",
];

/** `resource: verbs` of all rules in a text of manifests. */
export function rightsIn(text: string): string[] {
  const manifests = loadAll(text) as { rules?: { resources: string[]; verbs: string[] }[] }[];
  return manifests.flatMap(({ rules = [] }) =>
    rules.flatMap(({ resources, verbs }) => resources.map((one) => `${one}: ${[...verbs].sort().join(" ")}`)),
  );
}

/** Applies what is generated, all but the Deployment: a test is the pod. */
export async function deploy(admin: Client, generated: string): Promise<void> {
  const manifests = loadAll(generated) as (KubeBody & { kind: string })[];
  for (const manifest of manifests.filter(({ kind }) => kind !== "Deployment")) {
    const written = await admin.apply(manifest, { fieldManager: "test", force: true });
    if (manifest.kind === "CustomResourceDefinition") await written.wait("condition=Established");
  }
}

/** Takes a verb out of the generated role; gives it back when called. */
export async function withhold(admin: Client, resource: string, verb: string): Promise<() => Promise<void>> {
  const role = await admin.get("clusterroles", "probes");
  const { rules } = role.body as unknown as { rules: { resources: string[]; verbs: string[] }[] };
  const fewer = rules
    .map((rule) =>
      rule.resources.includes(resource) ? { ...rule, verbs: rule.verbs.filter((one) => one !== verb) } : rule,
    )
    .filter(({ verbs }) => verbs.length > 0);
  await role.patch({ rules: fewer });
  return async () => {
    await role.patch({ rules });
  };
}
