/** The life of Teams and their namespaces, on any cluster. Each test has a team of its own: a Team has no namespace. */
import { ConfigMap, Event, LimitRange, Namespace, NetworkPolicy, ResourceQuota, RoleBinding } from "lotse/client";
import { describe, expect, it, vi } from "vitest";
import { type Bench, PATIENCE, type StartBench } from "../bench.ts";
import { KINDS, TEAM } from "./objects.ts";
import { Team } from "./operator.ts";

type Spec = ConstructorParameters<typeof Team>[0]["spec"];
type LiveTeam = InstanceType<typeof Team>;

const create = ({ client }: Bench, name: string, spec: Partial<Spec> = {}) =>
  client.create(new Team({ metadata: { name }, spec: { group: `${name}-developers`, ...spec } }));

/** A team that is ready. */
async function onboard(bench: Bench, name: string, spec: Partial<Spec> = {}): Promise<LiveTeam> {
  const team = await create(bench, name, spec);
  await team.wait("condition=Ready", { timeout: PATIENCE });
  await bench.settle();
  return team;
}

const objectsIn = async ({ client }: Bench, namespace: string) => {
  const lists = await Promise.all(
    KINDS.map((kind) => client.list(kind.description, { namespace, labelSelector: TEAM }).toArray()),
  );
  return lists.flat().map(({ description, name }) => `${description.kind} ${name}`);
};

const messageOf = async (team: LiveTeam, type: string) =>
  (await team.refresh()).status?.conditions?.find((condition) => condition.type === type)?.message;

/** What the team tells of others, without the times. */
const driftOf = async (team: LiveTeam) =>
  ((await team.refresh()).status?.drift ?? []).map(({ object, what, by }) =>
    [object, what, by].filter(Boolean).join(" | "),
  );

const ALL = [
  "RoleBinding team-edit",
  "ResourceQuota team",
  "LimitRange team",
  "NetworkPolicy allow-same-namespace",
  "NetworkPolicy default-deny",
];

/** Declares the tests. */
export function scenario(start: StartBench): void {
  describe("a Team", () => {
    it("gets a namespace with access, quota, limits and a fence, and is ready", async () => {
      await using bench = await start();
      const team = await onboard(bench, "payments", { members: ["ada"], quota: { cpu: "2", pods: 10 } });
      const { client } = bench;
      const namespace = await client.get(Namespace, "payments");
      expect(namespace.labels).toMatchObject({ [TEAM]: "payments", "pod-security.kubernetes.io/enforce": "baseline" });
      expect(await objectsIn(bench, "payments")).toEqual(ALL);
      const at = { namespace: "payments" };
      expect((await client.get(RoleBinding, "team-edit", at)).body).toMatchObject({
        roleRef: { kind: "ClusterRole", name: "edit" },
        subjects: [
          { kind: "Group", name: "payments-developers" },
          { kind: "User", name: "ada" },
        ],
      });
      const hard = { "requests.cpu": "2", "requests.memory": "8Gi", pods: "10" };
      expect((await client.get(ResourceQuota, "team", at)).spec).toMatchObject({ hard });
      expect((await client.get(LimitRange, "team", at)).spec.limits).toHaveLength(1);
      expect((await client.get(NetworkPolicy, "default-deny", at)).spec?.ingress).toBeUndefined();
      expect(team.status).toMatchObject({ namespace: namespace.uid, observedGeneration: 1 });
      expect(team.status?.drift).toBeUndefined();
    });

    it("costs nothing when the operator starts again", async () => {
      await using bench = await start();
      await onboard(bench, "search");
      const before = (await bench.writes()).length;
      await bench.restart();
      const written = (await bench.writes()).slice(before).map(({ verb, resource }) => `${verb} ${resource}`);
      expect(written.filter((write) => !write.includes("customresourcedefinitions"))).toEqual([]);
    });

    it("that gets other people, another quota or another role has its namespace follow", async () => {
      await using bench = await start();
      const team = await onboard(bench, "billing");
      await team.patch({ spec: { role: "view", members: ["grace"], quota: { pods: 50 } } });
      await bench.settle();
      expect(await objectsIn(bench, "billing")).toEqual(["RoleBinding team-view", ...ALL.slice(1)]);
      const at = { namespace: "billing" };
      const { subjects } = (await bench.client.get(RoleBinding, "team-view", at)).body;
      expect(subjects?.map(({ name }) => name)).toEqual(["billing-developers", "grace"]);
      expect((await bench.client.get(ResourceQuota, "team", at)).spec?.hard).toMatchObject({ pods: "50" });
      expect(await driftOf(team)).toEqual([]);
    });

    it("cannot have a namespace of the cluster itself, and says so", async () => {
      await using bench = await start();
      const team = await create(bench, "kube-system", { adopt: true, onRemoval: "Delete" });
      await team.wait("condition=Stalled");
      expect(await messageOf(team, "Stalled")).toBe("the namespace kube-system is the cluster's own");
      await team.delete({ wait: true });
      expect((await bench.client.get(Namespace, "kube-system")).labels).not.toHaveProperty(TEAM);
    });
  });

  describe("what others change in a team's namespace", () => {
    it("is brought back and told: what, by whom, and when; in the status and as an Event", async () => {
      await using bench = await start();
      const team = await onboard(bench, "ledger");
      const at = { namespace: "ledger", fieldManager: "mallory" };
      await bench.client.patch(ResourceQuota, "team", { spec: { hard: { pods: "500" } } }, at);
      await bench.settle();
      const { spec } = await bench.client.get(ResourceQuota, "team", { namespace: "ledger" });
      expect(spec?.hard).toMatchObject({ pods: "20" });
      expect(await driftOf(team)).toEqual(["ResourceQuota team | spec.hard.pods was 500, not 20 | mallory"]);
      // The server's own time of that write: it counts in seconds.
      expect(team.status?.drift?.[0]?.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      await vi.waitFor(
        async () => {
          const events = await bench.client.list(Event, { namespace: "default" }).toArray();
          const about = events.filter(({ body }) => body.involvedObject.name === "ledger" && body.reason === "Drift");
          expect(about.map(({ body }) => `${body.type} ${body.message}`)).toEqual([
            "Warning ResourceQuota team: spec.hard.pods was 500, not 20, by mallory",
          ]);
        },
        { timeout: 170_000 },
      );
    });

    it("is brought back also when it gives somebody access, or when it is a label of the namespace", async () => {
      await using bench = await start();
      const team = await onboard(bench, "fraud");
      const { client } = bench;
      const by = { fieldManager: "mallory" };
      const binding = await client.get(RoleBinding, "team-edit", { namespace: "fraud" });
      const subjects = [
        ...(binding.body.subjects ?? []),
        { kind: "User", name: "mallory", apiGroup: "rbac.authorization.k8s.io" },
      ];
      await client.patch(RoleBinding, "team-edit", { subjects }, { ...by, namespace: "fraud" });
      await bench.settle();
      const enforce = "pod-security.kubernetes.io/enforce";
      await client.patch(Namespace, "fraud", { metadata: { labels: { [enforce]: "privileged" } } }, by);
      await bench.settle();
      await client.patch(Namespace, "fraud", { metadata: { labels: { [TEAM]: null } } }, by);
      await bench.settle();
      const { body } = await client.get(RoleBinding, "team-edit", { namespace: "fraud" });
      expect(body.subjects).toHaveLength(1);
      expect((await client.get(Namespace, "fraud")).labels).toMatchObject({ [enforce]: "baseline", [TEAM]: "fraud" });
      expect(await driftOf(team)).toEqual([
        expect.stringMatching(/^RoleBinding team-edit \| subjects.* \| mallory$/),
        `Namespace fraud | metadata.labels[${enforce}] was privileged, not baseline | mallory`,
        `Namespace fraud | metadata.labels[${TEAM}] was nothing, not fraud`,
      ]);
      expect(await objectsIn(bench, "fraud")).toEqual(ALL);
    });

    it("is made again when it was deleted, also while the operator was away", async () => {
      await using bench = await start();
      const team = await onboard(bench, "risk");
      await bench.client.delete(NetworkPolicy, "default-deny", { namespace: "risk" });
      await bench.settle();
      await bench.stopOperator();
      await bench.client.delete(LimitRange, "team", { namespace: "risk" });
      await bench.startOperator();
      await bench.settle();
      expect(await objectsIn(bench, "risk")).toEqual(ALL);
      expect(await driftOf(team)).toEqual([
        "NetworkPolicy default-deny | it was deleted",
        "LimitRange team | it was deleted",
      ]);
    });

    it("is made again when the whole namespace was deleted", async () => {
      await using bench = await start();
      const team = await onboard(bench, "audit");
      const namespace = await bench.client.get(Namespace, "audit");
      await namespace.delete();
      const another = async () => expect((await bench.client.get(Namespace, "audit")).uid).not.toBe(namespace.uid);
      await vi.waitFor(another, { timeout: 170_000, interval: 100 });
      await vi.waitFor(async () => expect(await objectsIn(bench, "audit")).toEqual(ALL), { timeout: 170_000 });
      await team.wait("condition=Ready", { timeout: PATIENCE });
      expect(await driftOf(team)).toContain("Namespace audit | it was deleted");
    });

    it("is nobody's business where the team has said nothing", async () => {
      await using bench = await start();
      const team = await onboard(bench, "growth");
      await bench.client.patch(Namespace, "growth", { metadata: { labels: { "cost-centre": "42" } } });
      await bench.client.patch(ResourceQuota, "team", { spec: { hard: { services: "5" } } }, { namespace: "growth" });
      await bench.settle();
      expect((await bench.client.get(Namespace, "growth")).labels).toHaveProperty("cost-centre");
      expect(await driftOf(team)).toEqual([]);
    });
  });

  describe("a namespace that is there already", () => {
    it("is not touched, and the team says why; with spec.adopt it is taken over, and outlives the team", async () => {
      await using bench = await start();
      const { client } = bench;
      await client.create(Namespace.gen({ name: "legacy", labels: { old: "yes" } }));
      const team = await create(bench, "legacy", { onRemoval: "Delete" });
      await team.wait("condition=Stalled");
      expect(await messageOf(team, "Stalled")).toBe("the namespace legacy is there already: spec.adopt takes it over");
      expect((await client.get(Namespace, "legacy")).labels).not.toHaveProperty(TEAM);
      expect(await objectsIn(bench, "legacy")).toEqual([]);

      await team.patch({ spec: { adopt: true } });
      await team.wait("condition=Ready", { timeout: PATIENCE });
      expect(await objectsIn(bench, "legacy")).toEqual(ALL);
      expect((await client.get(Namespace, "legacy")).labels).toMatchObject({ old: "yes", [TEAM]: "legacy" });
      expect(await driftOf(team)).toEqual([]);

      await team.delete({ wait: true });
      const { metadata, labels } = await client.get(Namespace, "legacy");
      expect(metadata.deletionTimestamp).toBeUndefined();
      expect(labels).not.toHaveProperty(TEAM);
    });

    it("is free for the team when somebody has removed it", async () => {
      await using bench = await start();
      const theirs = await bench.client.create(Namespace.gen({ name: "squat" }));
      const team = await create(bench, "squat");
      await team.wait("condition=Stalled");
      await theirs.delete();
      await team.wait("condition=Ready", { timeout: PATIENCE });
      expect(await driftOf(team)).toEqual([]);
    });
  });

  describe("a Team that goes", () => {
    it("leaves its namespace with what is in it, and takes its own objects along", async () => {
      await using bench = await start();
      const { client } = bench;
      const team = await onboard(bench, "mobile");
      const theirs = await client.create(ConfigMap.gen({ name: "theirs", namespace: "mobile" }));
      await team.delete({ wait: true });
      await vi.waitFor(async () => expect(await objectsIn(bench, "mobile")).toEqual([]), { timeout: 170_000 });
      const namespace = await client.get(Namespace, "mobile");
      expect(namespace.metadata.deletionTimestamp).toBeUndefined();
      expect(namespace.labels).not.toHaveProperty(TEAM);
      expect(await theirs.exists()).toBe(true);
    });

    it("takes its namespace along if it says so, and is there until that is gone", async () => {
      await using bench = await start();
      const team = await onboard(bench, "pilot", { onRemoval: "Delete" });
      const namespace = await bench.client.get(Namespace, "pilot");
      const held = ConfigMap.gen({ name: "held", namespace: "pilot", finalizers: ["example.com/held"] });
      await bench.client.create(held);
      await team.delete();
      await bench.settle();
      expect((await namespace.refresh()).metadata.deletionTimestamp).toBeDefined();
      expect(await team.exists()).toBe(true);
      await held.patch({ metadata: { finalizers: null } });
      await team.wait("delete", { timeout: PATIENCE });
      expect(await namespace.exists()).toBe(false);
    });
  });
}
