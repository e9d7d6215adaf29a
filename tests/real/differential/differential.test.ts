import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster, type TestCluster } from "../../fixture.ts";
import { compare, complaints } from "./compare.ts";
import { deviations } from "./deviations.ts";
import { renderDifferences, requestCount } from "./differences.ts";
import { normalise, type Transcript } from "./normalise.ts";
import { play, type Target } from "./player.ts";
import { flatten } from "./script.ts";
import { scripts } from "./scripts/index.ts";

let clusters: { readonly embedded: TestCluster; readonly real: TestCluster } | undefined;

beforeAll(async () => {
  const [embedded, real] = await Promise.all([
    startCluster("embedded", { bare: true, tls: true }),
    startCluster("real"),
  ]);
  clusters = { embedded, real };
});

afterAll(async () => {
  await Promise.all([clusters?.embedded.stop(), clusters?.real.stop()]);
});

describe.each(scripts)("$title", (script) => {
  let embedded: Transcript;
  let real: Transcript;

  beforeAll(async () => {
    if (clusters === undefined) throw new Error("The clusters did not start.");
    const both = [clusters.embedded, clusters.real].map(async (cluster) =>
      normalise(await play(script, targetOf(cluster)), cluster.url),
    );
    [embedded, real] = (await Promise.all(both)) as [Transcript, Transcript];
  });

  it.each(flatten(script.steps).map(({ name }) => name))("%s", (name) => {
    const accepted = deviations.find((known) => known.script === script.title && known.step === name);
    const found = complaints(compare(embedded.steps.get(name), real.steps.get(name)), accepted);
    if (found.length > 0) expect.fail(found.join("\n"));
  });

  it("orders the versions of its objects alike", () => {
    const shared = new Set(real.history.filter((symbol) => embedded.history.includes(symbol)));
    expect(embedded.history.filter((symbol) => shared.has(symbol))).toEqual(
      real.history.filter((symbol) => shared.has(symbol)),
    );
  });
});

describe("the requests", () => {
  it(`are at least 8000: there are ${requestCount()}`, () => {
    expect(requestCount()).toBeGreaterThanOrEqual(8_000);
  });
});

describe("the list of deviations", () => {
  it("is what the documentation says", async () => {
    await expect(renderDifferences()).toMatchFileSnapshot("../../../docs/cluster-differences.md");
  });

  it("names steps that exist, each once", () => {
    const known = scripts.flatMap(({ title, steps }) => flatten(steps).map(({ name }) => `${title}: ${name}`));
    expect(new Set(known).size, "two steps of a script have the same name").toBe(known.length);
    const listed = deviations.map(({ script, step }) => `${script}: ${step}`);
    expect(listed.filter((entry) => !known.includes(entry))).toEqual([]);
    expect(new Set(listed).size).toBe(listed.length);
  });
});

function targetOf(cluster: TestCluster): Target {
  const { clusters: servers, users } = cluster.kubeconfig as {
    clusters: { cluster: { "certificate-authority-data": string } }[];
    users: { user: { token: string } }[];
  };
  return {
    url: cluster.url,
    ca: Buffer.from(servers[0]?.cluster["certificate-authority-data"] ?? "", "base64").toString("utf8"),
    token: users[0]?.user.token ?? "",
    compact: () => cluster.compact(),
  };
}
