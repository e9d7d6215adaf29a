/** The chart that `lotse generate helm` makes, in the hands of Helm. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run } from "../run.ts";
import { useHelm } from "./helm-session.ts";
import { helmVersions, kubectlPath } from "./kubectl.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const EXAMPLE = "examples/exchange-rates/operator.ts";
const CRD = "exchangerates.rates.example.com";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
}

async function lotse(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run(process.execPath, ["packages/lotse/bin/lotse.js", ...args], {
    cwd: ROOT,
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout;
}

/** Every single thing that rules allow, in order. */
function rights(manifests: readonly Manifest[]): string[] {
  const all = manifests.flatMap(({ rules = [] }) =>
    rules.flatMap(({ apiGroups, resources, verbs, resourceNames = ["*"] }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((one) =>
          verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${one} ${group} ${name}`)),
        ),
      ),
    ),
  );
  return all.sort();
}

const kinds = (manifests: readonly Manifest[]) =>
  manifests.map(({ kind, metadata }) => [kind, metadata.namespace].filter(Boolean).join(" "));

let folder: string;
let chart: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), "lotse-chart-"));
  chart = path.join(folder, "chart");
  await lotse("generate", "helm", EXAMPLE, "--image", "example.com/rates:1", "-o", chart);
});

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

it("is the same each time", async () => {
  const again = path.join(folder, "again");
  await lotse("generate", "helm", EXAMPLE, "--image", "example.com/rates:1", "-o", again);
  const files = (root: string) =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => path.join(one.parentPath, one.name))
      .sort()
      .map((file) => [path.relative(root, file), readFileSync(file, "utf8")]);
  expect(files(again)).toEqual(files(chart));
  expect(files(chart).map(([name]) => name)).toContain(path.join("crds", `${CRD}.yaml`));
});

describe.each(helmVersions())("Helm %s", (version) => {
  const { env, helm, ok } = useHelm(version);

  async function rendered(more = ""): Promise<Manifest[]> {
    return loadAll(await ok(`template rates ${chart} --namespace ops${more}`)) as Manifest[];
  }

  async function kubectl(line: string): Promise<string> {
    const { exitCode, stdout, stderr } = await run(kubectlPath(), line.split(" "), { env: env() });
    expect({ exitCode, stderr }, `kubectl ${line}`).toMatchObject({ exitCode: 0 });
    return stdout;
  }

  /** What kubectl says about the rights of the operator's account. It exits with 1 when the answer is no. */
  async function may(verb: string, what: string, namespace: string): Promise<string> {
    const account = "system:serviceaccount:ops:rates-exchange-rates";
    const args = ["auth", "can-i", verb, what, "-n", namespace, "--as", account];
    const { stdout } = await run(kubectlPath(), args, { env: env() });
    return stdout.trim();
  }

  it("finds nothing to complain about", async () => {
    expect(await ok(`lint ${chart} --strict`)).toContain("1 chart(s) linted, 0 chart(s) failed");
    expect(await ok(`lint ${chart} --strict --set namespaces={a,b*},installCrds=false`)).toContain("0 chart(s) failed");
  });

  it("gives the operator exactly the rights that `lotse generate rbac` gives", async () => {
    const manifests = await rendered();
    expect(kinds(manifests).sort()).toEqual([
      "ClusterRole",
      "ClusterRoleBinding",
      "Deployment ops",
      "NetworkPolicy ops",
      "Role ops",
      "RoleBinding ops",
      "ServiceAccount ops",
    ]);
    const generated = await lotse("generate", "rbac", EXAMPLE, "--coordination", "leader");
    expect(rights(manifests)).toEqual(rights(loadAll(generated) as Manifest[]));
  });

  it("keeps metrics for those who may read them where its user wants it so", async () => {
    const manifests = await rendered(" --set metrics.auth=true,metrics.port=9443,namespaces={a},installCrds=false");
    expect(manifests.filter(({ kind }) => kind === "ClusterRole")).toMatchObject([
      { metadata: { name: "rates-exchange-rates-metrics-reader" }, rules: [{ nonResourceURLs: ["/metrics"] }] },
      { rules: [{ resources: ["tokenreviews"] }, { resources: ["subjectaccessreviews"] }] },
    ]);
    const text = JSON.stringify(manifests);
    expect(text).toContain('{"name":"LOTSE_RUN_METRICS_AUTH","value":"https://0.0.0.0:9443"}');
    expect(text).toContain('{"name":"metrics","containerPort":9443}');
    expect(manifests.find(({ kind }) => kind === "NetworkPolicy")).toMatchObject({
      spec: { ingress: [{ ports: [{ port: 8080 }, { port: 9443 }] }] },
    });
    expect(JSON.stringify(await rendered())).not.toMatch(/METRICS_AUTH|metrics-reader|tokenreviews/);
  });

  it("has as many replicas as its user wants, with what their coordination needs", async () => {
    const manifests = await rendered(" --set replicas=3,coordination=shards");
    expect(kinds(manifests)).toContain("PodDisruptionBudget ops");
    const deployment = manifests.find(({ kind }) => kind === "Deployment");
    expect(deployment).toMatchObject({
      spec: {
        replicas: 3,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
        template: { spec: { topologySpreadConstraints: [{ topologyKey: "kubernetes.io/hostname" }, {}] } },
      },
    });
    expect(JSON.stringify(deployment)).toContain('{"name":"LOTSE_RUN_COORDINATION","value":"shards"}');
    const generated = await lotse("generate", "rbac", EXAMPLE, "--coordination", "shards");
    expect(rights(manifests)).toEqual(rights(loadAll(generated) as Manifest[]));
    const alone = await rendered(" --set coordination=alone");
    expect(kinds(alone)).not.toContain("Role ops");
    expect(alone.find(({ kind }) => kind === "Deployment")).toMatchObject({ spec: { strategy: { type: "Recreate" } } });
    expect(rights(alone)).toEqual(rights(loadAll(await lotse("generate", "rbac", EXAMPLE)) as Manifest[]));
  });

  it("gives rights only in the namespaces that are served, where these are named", async () => {
    const manifests = await rendered(" --set namespaces={a,b},installCrds=false");
    expect(kinds(manifests).sort()).toEqual([
      "Deployment ops",
      "NetworkPolicy ops",
      "Role a",
      "Role b",
      "Role ops",
      "RoleBinding a",
      "RoleBinding b",
      "RoleBinding ops",
      "ServiceAccount ops",
    ]);
    const served = loadAll(await lotse("generate", "deploy", EXAMPLE, "--serve", "a", "--serve", "b")) as Manifest[];
    expect(rights(manifests)).toEqual(rights(served));
    const patterns = await rendered(" --set namespaces={a*}");
    expect(rights(patterns)).toContain("watch namespaces  *");
    expect(kinds(patterns)).not.toContain("Role a*");
  });

  it("leaves the rights to others when asked to", async () => {
    const manifests = await rendered(" --set rbac.create=false,serviceAccount.create=false,serviceAccount.name=mine");
    expect(kinds(manifests)).toEqual(["NetworkPolicy ops", "Deployment ops"]);
    expect(manifests[1]).toMatchObject({ spec: { template: { spec: { serviceAccountName: "mine" } } } });
  });

  it("lets nobody in but to health and metrics, and leaves that to others when asked to", async () => {
    const policy = (await rendered(" --set port=9090")).find(({ kind }) => kind === "NetworkPolicy");
    expect(policy).toMatchObject({
      spec: { policyTypes: ["Ingress"], ingress: [{ ports: [{ port: 9090, protocol: "TCP" }] }] },
    });
    expect(kinds(await rendered(" --set networkPolicy.create=false"))).not.toContain("NetworkPolicy ops");
    expect(JSON.stringify(await rendered())).toContain("http://127.0.0.1:8081");
    expect(JSON.stringify(await rendered(" --set explainPort=0"))).not.toContain("LOTSE_RUN_EXPLAIN");
  });

  it.each([
    ["replicas=-1", /replicas/],
    ["replicas=2,coordination=alone", /replicas/],
    ["coordination=perhaps", /coordination/],
    ["image.pullPolicy=Sometimes", /pullPolicy/],
    ["namespaces={Team}", /namespaces/],
    ["nonsense=1", /nonsense/],
    ["explainPort=80", /explainPort/],
    ["livenessProbe.exec=x", /exec/],
    ["image.digest=sha256:abc", /digest/],
    // A number, of which Helm makes 2.0240101e+07 when it comes from a file: --set-string is for that.
    ["image.tag=20240101", /tag/],
  ])("refuses --set %s, by the values' schema", async (wrong, name) => {
    const { exitCode, stderr } = await helm(`template rates ${chart} --set ${wrong}`);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/values don't meet the specifications of the schema/);
    expect(stderr).toMatch(name);
  });

  it("installs, upgrades and uninstalls it", async () => {
    const installed = await ok(`install rates ${chart} -n ops --create-namespace --wait --timeout 60s`);
    expect(installed).toMatch(/STATUS: deployed\nREVISION: 1\n/);
    expect(installed).toContain("rates-exchange-rates handles objects of all namespaces.");
    expect(installed).toContain(`kubectl get ${CRD} --all-namespaces`);
    const image = "jsonpath={.status.availableReplicas}/{.spec.template.spec.containers[0].image}";
    expect(await kubectl(`get deployment rates-exchange-rates -n ops -o ${image}`)).toBe("1/example.com/rates:1");
    expect(await kubectl(`get crd ${CRD} -o jsonpath={.spec.names.kind}`)).toBe("ExchangeRate");
    expect(await may("create", "configmaps", "anywhere")).toBe("yes");
    expect(await may("delete", "configmaps", "anywhere")).toBe("no");

    await kubectl("create namespace team");
    const upgraded = await ok(
      `upgrade rates ${chart} -n ops --set-string image.tag=2 --set namespaces={team},installCrds=false --wait --timeout 60s`,
    );
    expect(upgraded).toContain("rates-exchange-rates handles objects of team.");
    expect(await kubectl(`get deployment rates-exchange-rates -n ops -o ${image}`)).toBe("1/example.com/rates:2");
    expect(await may("create", "configmaps", "team")).toBe("yes");
    expect(await may("create", "configmaps", "anywhere")).toBe("no");
    const variables = "jsonpath={.spec.template.spec.containers[0].env[?(@.value)].value}";
    expect(await kubectl(`get deployment rates-exchange-rates -n ops -o ${variables}`)).toBe(
      "leader http://0.0.0.0:8080/healthz http://127.0.0.1:8081 json false team",
    );

    expect(await ok("uninstall rates -n ops --wait --timeout 60s")).toContain('release "rates" uninstalled');
    for (const kind of [
      "deployments",
      "serviceaccounts",
      "roles",
      "rolebindings",
      "clusterroles",
      "clusterrolebindings",
    ]) {
      expect(await kubectl(`get ${kind} -A -l app.kubernetes.io/instance=rates -o name`), kind).toBe("");
    }
    // Objects of users shall not go with a chart: Helm keeps definitions.
    expect(await kubectl(`get crd ${CRD} -o name`)).toContain(CRD);
  });
});
