/** `lotse dev` with an operator that judges and converts: nothing has to be set, and a save changes what is judged. */
import path from "node:path";
import { Client, CustomResourceDefinition } from "lotse/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Project } from "./project.ts";

const operator = (most: number) => `
import { AdmissionError, Operator, resource } from "lotse";
import { z } from "zod";
const Shop = resource({
  group: "example.com",
  kind: "Shop",
  versions: {
    v1beta1: { spec: z.object({ size: z.string() }) },
    v1: { spec: z.object({ size: z.number() }), storage: true },
  },
  convert: {
    v1beta1: {
      to: (old) => ({ spec: { size: Number(old.spec.size) } }),
      from: (stored) => ({ spec: { size: String(stored.spec.size) } }),
    },
  },
});
const operator = new Operator({ name: "shops" });
operator.on.create(Shop, async function open() {});
operator.on.validate(Shop, function checkSize({ spec }) {
  if (spec.size > ${most}) throw new AdmissionError("no shop is larger than ${most}");
});
export default operator;
`;

let project: Project;

beforeAll(() => {
  project = new Project();
  project.writeSettings();
}, 300_000);

afterAll(() => project.remove());

const shop = (version: string, name: string, size: unknown) => ({
  apiVersion: `example.com/${version}`,
  kind: "Shop",
  metadata: { name, namespace: "default" },
  spec: { size },
});

it.each([[[]], [["--rbac"]]])("judges, converts, and goes on after a save %j", { timeout: 300_000 }, async (flags) => {
  project.write("operator.ts", operator(100));
  const args = ["dev", "operator.ts", "--no-console", "--kubelet", "off", "--kubeconfig", "dev.yaml", ...flags];
  const running = project.begin(args);
  await running.says("the operator is ready");
  const client = await Client.connect({ kubeconfig: path.join(project.folder, "dev.yaml") });
  const refusal = (size: number) =>
    client.create(shop("v1", `size-${size}`, size)).then(
      () => "none",
      (error: Error) => error.message,
    );
  const address = async () => {
    const { body } = await client.get(CustomResourceDefinition, "shops.example.com");
    return body.spec.conversion?.webhook?.clientConfig?.url;
  };
  const old = async () => (await client.get("shops.v1beta1.example.com", "new")).body;
  expect(await refusal(101)).toContain("no shop is larger than 100");
  await client.create(shop("v1", "new", 7));
  expect(await old()).toMatchObject({ spec: { size: "7" } });
  const before = await address();
  expect(before).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/convert\/shops\.example\.com$/);
  project.write("operator.ts", operator(50));
  await running.says(/the operator has stopped[\s\S]*the operator is ready/);
  expect(await refusal(51)).toContain("no shop is larger than 50");
  expect(await old()).toMatchObject({ spec: { size: "7" } });
  expect(await address()).toBe(before);
  await client.close();
  running.child.kill("SIGTERM");
  expect(await running.ended).toBe(0);
  expect(running.err()).not.toMatch(/forbidden|could not be/i);
});
