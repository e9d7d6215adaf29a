/** An example under load is recorded, and plays again: the same code writes the same, other code is found out. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Client, defineKind, ResourceQuota } from "@lotse/client";
import { replay } from "@lotse/testing";
import type { Operator } from "lotse";
import { describe, expect, it, onTestFinished } from "vitest";
import { record } from "../../packages/testing/src/replay/test-recording.ts";

const EXAMPLE = fileURLToPath(new URL("../../examples/onboarding", import.meta.url));
const TEAMS = 60;

const Team = defineKind({
  group: "onboarding.example.com",
  version: "v1",
  kind: "Team",
  plural: "teams",
  namespaced: false,
});

/** The operator of the example, with a change where one is planted. */
async function onboarding(change?: readonly [file: string, from: string, to: string]): Promise<Operator> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-example-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(EXAMPLE, folder, { recursive: true, filter: (file) => !file.includes("node_modules") });
  // Those of the sources: a second copy of the packages would not know the objects of the first.
  symlinkSync(fileURLToPath(new URL("../../node_modules", import.meta.url)), path.join(folder, "node_modules"));
  if (change) {
    const [name, from, to] = change;
    const file = path.join(folder, name);
    const text = readFileSync(file, "utf8");
    expect(text).toContain(from);
    writeFileSync(file, text.replace(from, to));
  }
  const module = (await import(pathToFileURL(path.join(folder, "operator.ts")).href)) as { default: Operator };
  return module.default;
}

/** People come, go and change their minds, and others meddle with what belongs to the teams. */
async function busyDay(client: Client, calm: () => Promise<void>): Promise<void> {
  const names = Array.from({ length: TEAMS }, (_, i) => `team-${i}`);
  const team = (name: string) => new Team({ metadata: { name }, spec: { group: `${name}@example.com` } });
  await Promise.all(names.map((name) => client.create(team(name))));
  await calm();
  await Promise.all(
    names.map(async (name, i) => {
      if (i % 2 === 0) await client.patch(Team, name, { spec: { members: ["alice"], role: "admin" } });
      if (i % 3 === 0) {
        const [quota] = await client.list(ResourceQuota, { namespace: name }).toArray();
        await quota?.patch({ spec: { hard: { pods: "999" } } });
      }
      if (i % 5 === 0) await client.delete(Team, name);
    }),
  );
  await calm();
}

describe("a recorded example under load", { timeout: 300_000 }, () => {
  it("plays again with all writes equal, and a planted change is shown with its moment and its handler", async () => {
    const { file, writes } = await record(await onboarding(), busyDay);
    const same = await replay(file, await onboarding());
    expect(same.differences).toEqual([]);
    // A few were taken back before they were sent.
    expect(same.replayed).toBe(same.recorded);
    expect(same.replayed).toBeGreaterThanOrEqual(writes);
    expect(writes).toBeGreaterThan(TEAMS * 5);

    const change = [
      "operator.ts",
      "patch.status.namespace = live.uid;",
      'patch.status.namespace = "elsewhere";',
    ] as const;
    const other = await replay(file, await onboarding(change), { report: true });
    const found = other.differences.filter(({ replayed }) => JSON.stringify(replayed)?.includes("elsewhere"));
    expect(found.length).toBeGreaterThanOrEqual(TEAMS / 2);
    expect(found[0]).toMatchObject({ type: "changed", request: expect.stringMatching(/^PATCH .*teams.*status$/) });
    expect(new Set(found.flatMap(({ handlers }) => handlers))).toContain("keepNamespace");
    expect(Date.parse(found[0]?.at ?? "")).toBeGreaterThanOrEqual(Date.parse(same.from));
  });
});
