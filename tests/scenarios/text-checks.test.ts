import { type Client, type KubeBody, KubeError } from "@lotse/client";
import { resource } from "lotse";
import { beforeAll, expect, it, vi } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";

/** What zod can say of a text, with one that it takes and one that it does not. */
const CHECKS = {
  starts: [z.string().startsWith("/a.b"), "/a.bc", "/aXb"],
  ends: [z.string().endsWith(".yaml"), "a.yaml", "a_yaml"],
  includes: [z.string().includes("m.n"), "am.nb", "amXnb"],
  startsAndEnds: [z.string().startsWith("a").endsWith("z"), "a-z", "a-y"],
  matches: [z.string().regex(/^[a-z]{2,3}$/), "abc", "Abc"],
  matchesTwice: [z.string().regex(/a/).regex(/b/), "cab", "cad"],
  matchesNumbers: [z.string().regex(/^[\u00e4\u{1f600}]+$/u), "ä😀", "a"],
  lower: [z.string().lowercase(), "abc", "aBc"],
  upper: [z.string().uppercase(), "ABC", "AbC"],
  long: [z.string().min(2).max(3), "abc", "a"],
  email: [z.email(), "pilot@example.com", "pilot"],
  url: [z.url(), "https://example.com/a?b=c", "example"],
  uuid: [z.uuid(), "123e4567-e89b-42d3-a456-426614174000", "123e4567"],
  uuid4: [z.uuidv4(), "123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"],
  dateTime: [z.iso.datetime(), "2024-02-29T12:00:00Z", "yesterday"],
  date: [z.iso.date(), "2024-02-29", "2024-02-30"],
  time: [z.iso.time(), "12:30:00", "12 o'clock"],
  ipv4: [z.ipv4(), "192.0.2.1", "192.0.2"],
  ipv6: [z.ipv6(), "2001:db8::1", "2001"],
  cidr: [z.cidrv4(), "192.0.2.0/24", "192.0.2.0"],
  mac: [z.mac(), "00:1a:2b:3c:4d:5e", "00:1a"],
  base64: [z.base64(), "aGk=", "a b"],
  hostname: [z.hostname(), "db.example.com", "no host"],
  ulid: [z.ulid(), "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3"],
  phone: [z.e164(), "+4940123456", "123"],
} as const;

const shape = Object.fromEntries(Object.entries(CHECKS).map(([name, [schema]]) => [name, schema.optional()]));
const Text = resource({
  group: "texts.example.com",
  version: "v1",
  kind: "Text",
  spec: z.object(shape as Record<string, z.ZodOptional<z.ZodString>>),
});

describeOn(clustersUnderTest(), "what a schema says of a text", (cluster) => {
  let client: Client;
  let warning: unknown;

  const create = (field: string, value: string) =>
    client.create({
      apiVersion: "texts.example.com/v1",
      kind: "Text",
      metadata: { generateName: "text-", namespace: "default" },
      spec: { [field]: value },
    });

  beforeAll(async () => {
    client = await cluster().connect();
    const answer = await client.raw({
      method: "POST",
      path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      body: Text.crd() as KubeBody,
    });
    warning = answer.headers.warning;
    await vi.waitFor(() => create("starts", "/a.b"), { timeout: 170_000 });
  }, 300_000);

  it("is taken by the server without a warning", () => {
    expect(warning).toBeUndefined();
  });

  it.each(Object.entries(CHECKS))("is checked by the server: %s", async (field, [schema, right, wrong]) => {
    expect([schema.safeParse(right).success, schema.safeParse(wrong).success]).toEqual([true, false]);
    await create(field, right);
    await expect(create(field, wrong)).rejects.toThrow(KubeError);
    await expect(create(field, wrong)).rejects.toThrow(`spec.${field}`);
  });
});
