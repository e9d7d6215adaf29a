import type { KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { Cutter, isCut } from "./cut.ts";
import { PermanentError } from "./errors.ts";
import { filterContext, matchesFilters } from "./filters.ts";
import { deepFreeze } from "./readonly.ts";

interface Pod extends KubeBody {
  spec: { nodeName: string; containers: { image: string; env: object }[] };
  status: { phase: string; podIP?: string };
}

const pod = (): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a", labels: { app: "x" } },
  spec: { nodeName: "n", containers: [{ image: "i", env: {} }] },
  status: { phase: "Running", podIP: "10.0.0.1" },
});

const cutter = (...paths: string[]) =>
  new Cutter(
    "Pod",
    paths.map((path) => path.split(".")),
  );

describe("an object that is cut", () => {
  it("has its names, its metadata and the fields that are kept", () => {
    const left = cutter("status.phase").cut(pod());
    expect(JSON.parse(JSON.stringify(left))).toEqual({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a", labels: { app: "x" } },
      status: { phase: "Running" },
    });
    expect(Object.keys(left)).toEqual(["apiVersion", "kind", "metadata", "status"]);
    expect(isCut(left)).toBe(true);
    expect(isCut(pod())).toBe(false);
  });

  it("refuses to be asked for what was taken away, and says which field and why", () => {
    const left = cutter("status.phase").cut(pod()) as Pod;
    const refused = 'of Pod is not kept: keep: ["status.phase"] leaves it out';
    expect(() => left.spec).toThrow(`spec ${refused}`);
    expect(() => left.status.podIP).toThrow(`status.podIP ${refused}`);
    expect(() => left.spec).toThrow(PermanentError);
  });

  it("says undefined of what no object of the kind had", () => {
    const left = cutter("status.phase").cut(pod());
    expect(left.data).toBeUndefined();
    expect((left.status as { message?: string }).message).toBeUndefined();
  });

  it("refuses also where this one had not what others had: nobody knows any more", () => {
    const { cut } = cutter("status.phase");
    cut(pod());
    const other = cut({ ...pod(), status: { phase: "Pending" } }) as Pod;
    expect(() => other.status.podIP).toThrow("status.podIP of Pod is not kept");
  });

  it("says undefined of a field that is kept and was not set", () => {
    const left = cutter("status.phase").cut({ ...pod(), status: {} }) as Pod;
    expect(left.status.phase).toBeUndefined();
  });

  it("shares what is kept whole, and keeps a list that a path leads through", () => {
    const body = pod();
    const left = cutter("spec.containers.image", "status").cut(body) as Pod;
    expect(left.status).toBe(body.status);
    expect(left.spec.containers).toBe(body.spec.containers);
    expect(() => left.spec.nodeName).toThrow("spec.nodeName");
  });

  it("can be frozen, copied, compared, printed and awaited like any other", async () => {
    const left = deepFreeze(cutter("status.phase").cut(pod()));
    expect({ ...left }).toEqual(JSON.parse(JSON.stringify(left)));
    expect(structuredClone(left)).toEqual({ ...left });
    expect(`${await Promise.resolve(left)}`).toBe("[object Object]");
    expect("spec" in left).toBe(false);
  });

  it("refuses every unknown key of a map that has more of them than can be remembered", () => {
    const data = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`k${i}`, "v"]));
    const left = cutter("data.k0").cut({ ...pod(), data }) as { data: Record<string, string> };
    expect(left.data.k0).toBe("v");
    expect(() => left.data.k1499).toThrow("data.k1499 of Pod is not kept");
    expect(JSON.stringify(left.data)).toBe('{"k0":"v"}');
  });

  it("takes no key of a map for the prototype", () => {
    const data = JSON.parse('{"__proto__": {"evil": 1}, "a": "1"}');
    const left = cutter("data.a").cut({ ...pod(), data }) as { data: Record<string, unknown> };
    expect(left.data.evil).toBeUndefined();
    expect(left.data.a).toBe("1");
  });
});

describe("functions of indexes and filters", () => {
  it("get a context of which only what they ask for is asked", () => {
    const left = cutter("status.phase").cut(pod()) as Pod;
    const context = filterContext(left);
    expect(context).toMatchObject({ name: "a", labels: { app: "x" }, status: { phase: "Running" } });
    expect(context.body).toBe(left);
    expect(() => context.spec).toThrow("spec of Pod is not kept");
  });

  it("can filter by what is kept", () => {
    const left = cutter("status.phase").cut(pod()) as Pod;
    expect(matchesFilters<Pod>({ when: ({ status }) => status.phase === "Running" }, left)).toBe(true);
    expect(() => matchesFilters<Pod>({ when: ({ spec }) => spec.nodeName === "n" }, left)).toThrow("is not kept");
  });
});
