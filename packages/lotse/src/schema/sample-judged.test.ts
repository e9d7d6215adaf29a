/** A server as the judge: it takes every value that is made, and what this room calls wrong it calls wrong, too. */
import { type Client, CustomResourceDefinition, InvalidError } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SchemaNode } from "./node.ts";
import { seeded } from "./random.ts";
import { SchemaSampler } from "./sample.ts";
import { withDefaults, withoutUnknown } from "./server-form.ts";
import { EVERYTHING } from "./test-schemas.ts";
import { validateValue } from "./validate.ts";

let cluster: Cluster;
let client: Client;

const WHOLE: SchemaNode = { type: "object", required: ["spec"], properties: { spec: EVERYTHING } };

beforeAll(async () => {
  cluster = await Cluster.start({ tls: false, kubelet: false });
  client = await cluster.connect();
  const crd = await client.create(
    new CustomResourceDefinition(
      {
        metadata: { name: "things.example.com" },
        spec: {
          group: "example.com",
          scope: "Cluster",
          names: { kind: "Thing", plural: "things" },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: WHOLE } }],
        },
      },
      client,
    ),
  );
  await crd.wait("condition=Established", { timeout: "30s" });
});

afterAll(async () => {
  await client?.close();
  await cluster?.stop();
});

async function judged(spec: unknown): Promise<{ spec: unknown } | string> {
  const body = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" }, spec };
  try {
    const answer = await client.raw({
      method: "POST",
      path: "/apis/example.com/v1/things",
      query: { dryRun: "All", fieldValidation: "Ignore" },
      body,
    });
    return (await answer.json()) as { spec: unknown };
  } catch (error) {
    if (error instanceof InvalidError) return error.message;
    throw error;
  }
}

describe("a server", () => {
  it("takes what is made, and makes of it what is foretold", async () => {
    for (const spec of new SchemaSampler(EVERYTHING).samples({ seed: 7, runs: 300 })) {
      const answer = await judged(spec);
      expect(answer, JSON.stringify(spec)).toMatchObject({ spec: expect.anything() as unknown });
      const foretold = withDefaults(withoutUnknown({ spec }, WHOLE), WHOLE);
      expect((answer as { spec: unknown }).spec).toEqual(JSON.parse(JSON.stringify(foretold.spec)));
    }
  });

  it("says of values that are spoiled at random what this validator says", async () => {
    const sampler = new SchemaSampler(EVERYTHING);
    let refused = 0;
    for (let i = 0; i < 300; i++) {
      const spec = spoiled(sampler.any(3, i), i);
      const seen = withDefaults(withoutUnknown({ spec }, WHOLE), WHOLE);
      const problems = validateValue(seen, WHOLE);
      // The server does not look at the items of a list where a text of some format should be.
      if (problems.length > 0 && problems.every(({ what }) => what === "must be of the type string, is array"))
        continue;
      const answer = await judged(spec);
      const told = `${JSON.stringify(spec)} ${JSON.stringify(problems)} ${JSON.stringify(answer)}`;
      expect(problems.length > 0, told).toBe(typeof answer === "string");
      if (problems.length > 0) refused++;
    }
    expect(refused).toBeGreaterThan(100);
  });
});

/** One place somewhere in the value is something else. */
function spoiled(value: unknown, seed: number): unknown {
  const random = seeded(seed);
  const others = [0, -1, 2.5, "", "x", "ZZZ-11", true, [], {}, null, 70_000, "aa", ["a", "a"], { a: "b" }];
  const walk = (node: unknown): unknown => {
    if (typeof node === "object" && node !== null && !random.once(4)) {
      if (Array.isArray(node) && node.length > 0) return node.with(random.int(0, node.length - 1), walk(node[0]));
      const keys = Object.keys(node).filter((key) => !["apiVersion", "kind", "metadata"].includes(key));
      if (keys.length > 0) {
        const key = random.of(keys);
        return { ...node, [key]: walk((node as Record<string, unknown>)[key]) };
      }
    }
    return random.of(others);
  };
  return walk(value);
}
