/** What scenarios about Kopf's defects and complaints share: a kind, and small tools for handlers that wait. */
import { type Client, CustomResourceDefinition, type KubeBody } from "@lotse/client";
import { resource } from "lotse";
import { z } from "zod";
import type { TestCluster } from "../fixture.ts";

export const Sample = resource({
  group: "kopf.example.com",
  version: "v1",
  kind: "Sample",
  spec: z.object({ size: z.number().default(1), note: z.string().optional() }),
  status: z.object({ size: z.number().optional(), count: z.number().optional(), done: z.unknown().optional() }),
});

interface SampleSpec {
  readonly size?: number;
  readonly note?: string;
}

/** Creates a Sample. */
export function sample(client: Client, name: string, spec: SampleSpec = {}, metadata: KubeBody["metadata"] = {}) {
  return client.create(new Sample({ metadata: { name, ...metadata }, spec } as never));
}

/** Installs the kind, for operators that are not to do it themselves. */
export async function installSample(client: Client): Promise<void> {
  const crd = new CustomResourceDefinition(Sample.crd(), client);
  await crd.apply({ fieldManager: "test", force: true });
  await crd.wait("condition=Established");
}

/** PATCH requests to objects of a kind in a namespace, oldest first: `one`, `one/status`. */
export async function patchesOf(cluster: TestCluster, namespace: string, plural: string): Promise<string[]> {
  return (await cluster.writes())
    .filter((write) => write.verb === "patch" && write.namespace === namespace)
    .filter((write) => write.resource.split(".")[0] === plural)
    .map((write) => [write.name, write.subresource].filter(Boolean).join("/"));
}

/** Something that a handler waits for until the test opens it. */
export function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open: () => void = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

/** Resolves with why a handler's signal was aborted. */
export async function aborted(signal: AbortSignal): Promise<string> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  return (signal.reason as { why: string }).why;
}
