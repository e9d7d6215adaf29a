import { ConfigMap } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { resource } from "../declare/index.ts";
import { Operator } from "../operator/index.ts";
import { permissionsOf } from "./permissions.ts";

const Site = resource({
  group: "sites.example.com",
  version: "v1",
  kind: "Site",
  spec: z.object({}),
  status: z.object({}),
});

/** Rights as `resource: verbs`, those of the framework's own bookkeeping left out. */
function rightsFor(operator: Operator, reason: RegExp): string[] {
  return permissionsOf(operator)
    .filter(({ by }) => reason.test(by))
    .map(({ resource: name, verbs }) => `${name}: ${verbs.join(" ")}`)
    .sort();
}

describe("the rights of level-based work", () => {
  it("to keep children are those to make, change, look at and delete the kinds that were named", () => {
    const operator = new Operator({ name: "op" });
    operator.children(Site, { id: "pages", owns: [ConfigMap] }, () => []);
    expect(rightsFor(operator, /keeps the children of each Site \(pages\)/)).toEqual([
      "configmaps: create delete get patch",
      "sites: patch",
    ]);
    expect(rightsFor(operator, /follows ConfigMap/)).toEqual(["configmaps: list watch"]);
  });

  it("of a reconciler are to follow what it owns, and no more", () => {
    const operator = new Operator({ name: "op" });
    operator.reconcile(Site, { id: "keep", owns: [ConfigMap] }, () => {});
    expect(rightsFor(operator, /keeps the children/)).toEqual([]);
    expect(rightsFor(operator, /ConfigMap/)).toEqual(["configmaps: list watch"]);
  });
});

describe("the rights of schedules", () => {
  it("are those to the Lease of each that makes up for runs that were missed", () => {
    const operator = new Operator({ name: "op" });
    operator.schedule("daily", { schedule: "@daily", missed: "once" }, () => {});
    operator.schedule("hourly", "@hourly", () => {});
    const leases = permissionsOf(operator).filter((one) => one.resource === "leases");
    expect(leases.map(({ verbs, names, inOwnNamespace }) => ({ verbs, names, inOwnNamespace }))).toEqual([
      { verbs: ["get", "patch"], names: ["op-daily"], inOwnNamespace: true },
      { verbs: ["create"], names: undefined, inOwnNamespace: true },
    ]);
  });
});
