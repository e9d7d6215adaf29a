import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { builtinKinds } from "../kinds/index.ts";
import * as builtin from "./index.ts";
import { builtinClasses } from "./lookup.ts";

describe("the classes of the built-in kinds", () => {
  it("are there for every kind of the tables, with its group, version, plural and scope", () => {
    for (const row of builtinKinds) {
      const { group, version, kind, plural, singular, namespaced, shortNames, categories, verbs } = row;
      const subresources = row.subresources.map(({ name }) => name);
      const description = builtin.builtinClass(row)?.description;
      expect(description, `${group}/${version}/${kind}`).toEqual({
        ...{ group, version, kind, plural, singular, namespaced, shortNames, categories, verbs, subresources },
      });
    }
    expect(builtinClasses()).toHaveLength(builtinKinds.length);
  });

  it("are all exported, under the name of their kind where only one has it", () => {
    const exported = new Set<unknown>(Object.values(builtin));
    for (const Class of builtinClasses()) expect(exported.has(Class), Class.name).toBe(true);
    expect(builtin.HorizontalPodAutoscaler.description.version).toBe("v2");
    expect(builtin.HorizontalPodAutoscalerV1.description.version).toBe("v1");
    expect(builtin.Event.description.group).toBe("");
    expect(builtin.EventsEvent.description.group).toBe("events.k8s.io");
  });

  it("make objects of their kind", () => {
    const lease = builtin.Lease.gen({ name: "leader", spec: { holderIdentity: "me" } });
    expect(lease).toBeInstanceOf(builtin.Lease);
    expect(lease.spec.holderIdentity).toBe("me");
    expect(lease.body).toMatchObject({ apiVersion: "coordination.k8s.io/v1", kind: "Lease" });
  });

  it("are what the generator makes of the tables", async () => {
    const script = fileURLToPath(new URL("../../../../scripts/tables/classes.mjs", import.meta.url));
    await promisify(execFile)(process.execPath, [script, "--check"]);
  });
});
