/** What operators may not do is told at the start, by a server with RBAC on. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Client, ClusterRoleBinding, loadManifests, Namespace, ServiceAccount } from "@lotse/client";
import { Cluster } from "@lotse/cluster";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { resource } from "../../declare/index.ts";
import type { Need } from "../../generate/index.ts";
import { Operator } from "../../operator/index.ts";
import { type RunOptions, runOperators } from "../run/index.ts";
import { formatProblem } from "../terminal/index.ts";
import { type TestIo, testIo } from "../terminal/test-io.ts";
import { lackingUnder, lacksAny, missingTexts, reviewPermissions } from "./permissions.ts";

const need = (resource: string, verbs: string[], more: Partial<Need> = {}): Need => ({
  group: "",
  resource,
  verbs,
  by: "a test",
  clusterWide: false,
  ...more,
});

describe("rules", () => {
  it.each<[string, Parameters<typeof lackingUnder>[0], Need, string[]]>([
    [
      "allow what they name",
      [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }],
      need("pods", ["list", "watch"]),
      ["watch"],
    ],
    [
      "allow everything by a star",
      [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
      need("pods/status", ["patch"]),
      [],
    ],
    [
      "are of their group",
      [{ apiGroups: ["apps"], resources: ["pods"], verbs: ["list"] }],
      need("pods", ["list"]),
      ["list"],
    ],
    [
      "do not mean subresources",
      [{ apiGroups: [""], resources: ["pods"], verbs: ["*"] }],
      need("pods/status", ["patch"]),
      ["patch"],
    ],
    [
      "mean a subresource of all",
      [{ apiGroups: [""], resources: ["*/status"], verbs: ["patch"] }],
      need("pods/status", ["patch"]),
      [],
    ],
    [
      "with names are not for all",
      [{ apiGroups: [""], resources: ["pods"], verbs: ["get"], resourceNames: ["a"] }],
      need("pods", ["get"]),
      ["get"],
    ],
    [
      "with names are for these",
      [{ apiGroups: [""], resources: ["pods"], verbs: ["get"], resourceNames: ["a", "b"] }],
      need("pods", ["get"], { names: ["b"] }),
      [],
    ],
  ])("%s", (_what, rules, needed, lacking) => {
    expect(lackingUnder(rules, [needed]).flatMap(({ verbs }) => verbs)).toEqual(lacking);
  });
});

const Rate = resource({ group: "rates.example.com", version: "v1", kind: "Rate", spec: z.object({ a: z.string() }) });

function operatorOf(): Operator {
  const operator = new Operator({ name: "rates" });
  operator.on.create(Rate, function publish() {});
  return operator;
}

describe("on a cluster", () => {
  let cluster: Cluster;
  let admin: Client;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), "lotse-permissions-"));
    cluster = await Cluster.start({ rbac: true, kubelet: false });
    admin = await cluster.connect();
    for (const name of ["team-a", "team-b"]) await admin.create(Namespace.gen({ name }));
  });

  afterAll(async () => {
    await admin.close();
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A new account without any rights of its own: the path of its kubeconfig. */
  async function account(name: string): Promise<string> {
    await admin.create(ServiceAccount.gen({ name, namespace: "default" }));
    return written(name, cluster.kubeconfigFor({ serviceAccount: `default/${name}` }));
  }

  function written(name: string, kubeconfig: object): string {
    const file = path.join(folder, name);
    writeFileSync(file, JSON.stringify(kubeconfig));
    return file;
  }

  /** Runs the operator until its log has `until`, then stops it. */
  async function run(kubeconfig: string, options: RunOptions, until: string | RegExp): Promise<TestIo> {
    const io = testIo();
    const loaded = [{ file: "operator.ts", operator: operatorOf() }];
    const ended = runOperators(loaded, { ...options, kubeconfig }, io).catch((error: unknown) => {
      io.stderr.write(formatProblem(error));
      return 1;
    });
    await vi.waitFor(() => expect(io.err()).toMatch(until), { timeout: 170_000, interval: 20 });
    io.send("SIGTERM");
    await ended;
    return io;
  }

  const needs = () => [need("pods", ["list", "watch"]), need("nodes", ["get"], { clusterWide: true })];

  it("says in one warning what is missing, with rules that mend it when they are applied", async () => {
    const kubeconfig = await account("pretty");
    const io = await run(kubeconfig, { logFormat: "pretty" }, /ClusterRoleBinding[\s\S]*namespace: default\n/);
    const [warning] = io.err().match(/^.*permissions are missing.*$/gm) ?? [];
    expect(warning?.replace(/^\S+ /, "")).toBe(
      "WARN  permissions are missing, the operator waits for them user=system:serviceaccount:default:pretty " +
        'missing="create, patch events; get, list, watch rates.rates.example.com; patch rates.rates.example.com/status" ' +
        'hint="save what follows, and apply it as an administrator"',
    );
    expect(io.err().match(/permissions are missing/g)).toHaveLength(1);
    const yaml = /^apiVersion: rbac[\s\S]*?name: pretty\n {4}namespace: default\n/m.exec(io.err())?.[0] ?? "";
    expect(yaml).toMatchInlineSnapshot(`
      "apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata:
        name: rates-missing
      rules:
        # the framework: posts Events
        - apiGroups:
            - ""
          resources:
            - events
          verbs:
            - create
            - patch
        # the framework: follows Rate
        # the framework: writes down what was done for each Rate
        - apiGroups:
            - rates.example.com
          resources:
            - rates
          verbs:
            - get
            - list
            - watch
        # the framework: writes down what was done for each Rate
        - apiGroups:
            - rates.example.com
          resources:
            - rates/status
          verbs:
            - patch
      ---
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRoleBinding
      metadata:
        name: rates-missing
      roleRef:
        apiGroup: rbac.authorization.k8s.io
        kind: ClusterRole
        name: rates-missing
      subjects:
        - kind: ServiceAccount
          name: pretty
          namespace: default
      "
    `);
    await admin.apply(await loadManifests({ text: yaml }));
    // Nothing is missing any more: else it would not start.
    await run(kubeconfig, { logFormat: "pretty", requirePermissions: true }, /kind=Rate|operator is ready/);
  });

  it.each([
    ["leads", { coordination: "leader" }, /create leases\.coordination\.k8s\.io/],
    ["gives-way", { peering: "ours" }, /list, patch, watch clusterkopfpeerings\.kopf\.dev/],
  ] as const)("asks for what the flags make of its coordination: %s", async (name, flags, missing) => {
    const kubeconfig = await account(name);
    const io = await run(kubeconfig, { ...flags, logFormat: "pretty" }, "permissions are missing");
    expect(io.err()).toMatch(missing);
  });

  it("says it in JSON as a field of the line", async () => {
    const io = await run(await account("json"), {}, "permissions are missing");
    const line = io
      .err()
      .split("\n")
      .map((text) => JSON.parse(text || "{}"))
      .find(({ message }) => message?.startsWith("permissions are missing"));
    expect(line).toMatchObject({ level: "warn", user: "system:serviceaccount:default:json" });
    expect((loadAll(line.rbac) as { kind: string }[]).map(({ kind }) => kind)).toEqual([
      "ClusterRole",
      "ClusterRoleBinding",
    ]);
  });

  it("does not start without them where they are required", async () => {
    const options = { logFormat: "pretty", requirePermissions: true } as const;
    const io = await run(await account("required"), options, "Do:");
    expect(io.err()).toContain(
      [
        "Error: permissions are missing, and --require-permissions was given",
        "Why:   create, patch events; get, list, watch rates.rates.example.com; patch rates.rates.example.com/status",
        "Do:    apply the rules above as an administrator, then start again",
      ].join("\n"),
    );
    expect(io.err()).not.toContain("waiting for a kind");
  });

  it("says nothing to an administrator", async () => {
    const options = { verbose: true, requirePermissions: true };
    const io = await run(written("admin", cluster.kubeconfig), options, "waiting for a kind");
    expect(io.err()).not.toMatch(/permissions/);
  });

  it("asks for each namespace that is served, and looks into those that a pattern takes", async () => {
    const kubeconfig = cluster.kubeconfigFor({ user: "jane" });
    await using client = await cluster.connect({ kubeconfig });
    const rules = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: jane, namespace: team-a }
rules: [{ apiGroups: [""], resources: [pods], verbs: [list, watch] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: jane, namespace: team-a }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: jane }
subjects: [{ kind: User, name: jane, apiGroup: rbac.authorization.k8s.io }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: jane }
rules:
  - { apiGroups: [""], resources: [namespaces], verbs: [list] }
  - { apiGroups: [""], resources: [nodes], verbs: [get] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: jane }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: jane }
subjects: [{ kind: User, name: jane, apiGroup: rbac.authorization.k8s.io }]
`;
    await admin.apply(await loadManifests({ text: rules }));
    const told = async (namespaces?: readonly string[]) =>
      missingTexts(await reviewPermissions(client, needs(), namespaces));
    expect(await told(["team-a"])).toEqual([]);
    expect(await told(["team-a", "team-b"])).toEqual(["list, watch pods in team-b"]);
    expect(await told(["team-*"])).toEqual(["list, watch pods in team-b"]);
    expect(await told(["*-a"])).toEqual([]);
    expect(await told()).toEqual(["list, watch pods"]);
  });

  it("asks many things at once without a warning of Node.js", async () => {
    const warnings: Error[] = [];
    const listener = (warning: Error) => warnings.push(warning);
    process.on("warning", listener);
    const many = Array.from({ length: 30 }, (_, i) => need(`things${i}`, ["list", "watch"]));
    const review = await reviewPermissions(admin, many, undefined, new AbortController().signal);
    // Node.js tells its warnings a tick later.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", listener);
    expect(lacksAny(review)).toBe(false);
    expect(warnings).toEqual([]);
  });

  it("raises no false alarm where nobody may ask", async () => {
    const binding = await admin.get(ClusterRoleBinding, "system:basic-user");
    await binding.delete();
    const kubeconfig = cluster.kubeconfigFor({ user: "mute" });
    await using client = await cluster.connect({ kubeconfig });
    for (const namespaces of [undefined, ["team-a"]]) {
      const review = await reviewPermissions(client, needs(), namespaces);
      expect(lacksAny(review)).toBe(false);
      expect(review.unanswered).toMatch(/forbidden/);
    }
    const io = await run(written("mute", kubeconfig), { verbose: true }, "some permissions could not be looked at");
    expect(io.err()).not.toContain("permissions are missing");
    const required = await run(written("mute", kubeconfig), { requirePermissions: true }, "Do:");
    expect(required.err()).toContain(
      "Error: permissions could not be looked at, and --require-permissions was given\n",
    );
  });
});

describe("a server that does not know all its rules", () => {
  it("is asked about each thing that seems to be missing", async () => {
    const asked: string[] = [];
    const client = {
      async raw({ path, body }: { path: string; body: { spec: { resourceAttributes?: { verb: string } } } }) {
        const verb = body.spec.resourceAttributes?.verb;
        asked.push(verb ?? path.replace(/.*\//, ""));
        const rules = { resourceRules: [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }], incomplete: true };
        return { json: async () => ({ status: verb === undefined ? rules : { allowed: verb === "watch" } }) };
      },
    } as unknown as Client;
    const review = await reviewPermissions(client, [need("pods", ["list", "watch", "patch"])], ["a"]);
    expect(asked).toEqual(["selfsubjectrulesreviews", "watch", "patch"]);
    expect(missingTexts(review)).toEqual(["patch pods in a"]);
  });

  it("is asked about what the operator keeps beside itself where that is, whatever it serves", async () => {
    const asked: (string | undefined)[] = [];
    const client = {
      config: { namespace: "mine" },
      async raw({ body }: { body: { spec: { namespace?: string } } }) {
        asked.push(body.spec.namespace);
        return { json: async () => ({ status: { resourceRules: [], incomplete: false } }) };
      },
    } as unknown as Client;
    const needs = [need("pods", ["list"]), need("secrets", ["get"], { inOwnNamespace: true, names: ["hooks"] })];
    const review = await reviewPermissions(client, needs, ["a"]);
    expect(missingTexts(review)).toEqual(["list pods in a", "get secrets in mine"]);
    expect(missingTexts(await reviewPermissions(client, needs, ["a"], undefined, "a"))).toEqual([
      "list pods in a",
      "get secrets in a",
    ]);
    expect(asked.sort()).toEqual(["a", "a", "a", "mine"]);
  });
});
