/** `lotse dev` with an operator that judges and converts: nothing has to be set, and a save changes what is judged. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Client, CustomResourceDefinition } from "@lotse/client";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { main } from "../main.ts";
import { testIo } from "../terminal/test-io.ts";
import { DevWebhooks } from "./webhooks.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../../..");

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

let cwd: string;

beforeAll(() => {
  mkdirSync(path.join(ROOT, ".lotse"), { recursive: true });
  cwd = mkdtempSync(path.join(ROOT, ".lotse", "dev-webhooks-"));
  writeFileSync(path.join(cwd, "package.json"), '{"type":"module"}');
});

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const shop = (version: string, name: string, size: unknown) => ({
  apiVersion: `example.com/${version}`,
  kind: "Shop",
  metadata: { name, namespace: "default" },
  spec: { size },
});

it.each([[[]], [["--rbac"]]])("judges, converts, and goes on after a save %j", { timeout: 300_000 }, async (flags) => {
  writeFileSync(path.join(cwd, "operator.ts"), operator(100));
  const io = testIo({ cwd, tty: true, env: { NO_COLOR: "1" } });
  const code = main(["dev", "operator.ts", "--no-console", ...flags], io);
  const seen = (what: RegExp) => vi.waitFor(() => expect(io.err()).toMatch(what), { timeout: 120_000, interval: 20 });
  await seen(/the operator is ready/);
  const client = await Client.connect({ kubeconfig: path.join(cwd, ".lotse", "kubeconfig") });
  try {
    const refusal = (size: number) =>
      client.create(shop("v1", `size-${size}`, size)).then(
        () => "none",
        (error: Error) => error.message,
      );
    expect(await refusal(101)).toContain("no shop is larger than 100");
    await client.create(shop("v1", "new", 7));
    expect((await client.get("shops.v1beta1.example.com", "new")).body).toMatchObject({ spec: { size: "7" } });
    const address = async () => {
      const { body } = await client.get(CustomResourceDefinition, "shops.example.com");
      return body.spec.conversion?.webhook?.clientConfig?.url;
    };
    const before = await address();
    expect(before).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/convert\/shops\.example\.com$/);
    writeFileSync(path.join(cwd, "operator.ts"), operator(50));
    await seen(/the operator is ready[\s\S]*the operator has stopped[\s\S]*the operator is ready/);
    expect(await refusal(51)).toContain("no shop is larger than 50");
    expect((await client.get("shops.v1beta1.example.com", "new")).body).toMatchObject({ spec: { size: "7" } });
    expect(await address()).toBe(before);
  } finally {
    await client.close();
    io.send("SIGTERM");
    expect(await code).toBe(0);
  }
  expect(io.err()).not.toMatch(/forbidden/i);
});

it("gives each operator of a file a port of its own, and keeps it", async () => {
  const webhooks = new DevWebhooks({}, false);
  const first = await webhooks.prepare(["a", "b"]);
  const ports = ["a", "b"].map((name) => first(name).port);
  expect(new Set(ports).size).toBe(2);
  const second = await webhooks.prepare(["b", "a", "c"]);
  expect(["a", "b"].map((name) => second(name).port)).toEqual(ports);
  expect(second("a").host).toBe("127.0.0.1");
});

it("leaves it to the flags and to the operator how a real cluster gets here", async () => {
  const webhooks = new DevWebhooks({ url: "https://me:9443" }, true);
  expect((await webhooks.prepare(["a"]))("a")).toEqual({ url: "https://me:9443" });
});
