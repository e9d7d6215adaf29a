/**
 * `lotse generate deploy | kubectl apply -f -`, and then the operator has nothing but the token of its ServiceAccount:
 * with its role it does its whole job, and without any single right of it, it does not.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { loadAll } from "js-yaml";
import { type LogRecord, minLevel, requestRecorder, type StartOptions } from "lotse";
import { Client, ClusterRole, CustomResourceDefinition, Lease, Role } from "lotse/client";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import operator, { ExchangeRate } from "../../examples/exchange-rates/operator.ts";
import { type ClusterKind, run, startCluster, type TestCluster } from "../fixture.ts";
import { type HeldRates, startRates, wholeJob } from "./deploy-job.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LOTSE = path.join(ROOT, "packages/lotse/bin/lotse.js");
const EXAMPLE = "examples/exchange-rates/operator.ts";
const [NAME, NAMESPACE] = ["exchange-rates", "rates"];

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** One thing that the role allows. */
interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  /** Only of objects of these names. */
  readonly names?: readonly string[] | undefined;
}

interface Manifest {
  readonly kind: string;
  readonly rules?: readonly Rule[];
  readonly spec?: { template?: { spec: { containers: { env: { name: string; value?: string }[] }[] } } };
}

async function generated(product: string): Promise<string> {
  const args = [LOTSE, "generate", product, EXAMPLE, "--namespace", NAMESPACE];
  return (await run(process.execPath, args, { cwd: ROOT })).stdout;
}

function rightsIn(manifests: readonly Manifest[]): Right[] {
  return manifests.flatMap(({ rules = [] }) =>
    rules.flatMap(({ apiGroups, resources, verbs, resourceNames: names }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb, names }))),
      ),
    ),
  );
}

const GENERATED = await generated("deploy");
const MANIFESTS = loadAll(GENERATED) as Manifest[];
const RIGHTS: readonly Right[] = rightsIn(MANIFESTS.filter(({ kind }) => kind === "ClusterRole"));
/** Beside the operator itself: what one of several processes needs. */
const LEASES: readonly Right[] = rightsIn(MANIFESTS.filter(({ kind }) => kind === "Role"));
/** What an operator needs besides whose definitions nobody else brings. */
const INSTALLING: readonly Right[] = rightsIn(loadAll(await generated("rbac")) as Manifest[]).filter(
  ({ resource }) => resource === "customresourcedefinitions",
);

const told = ({ verb, resource }: Right) => `${verb} ${resource}`;

it("is a role of these rights: what the framework does, and what the handlers were seen to do", () => {
  expect(RIGHTS.map(told)).toEqual([
    "create configmaps",
    "list configmaps",
    "patch configmaps",
    "create events",
    "patch events",
    "get exchangerates",
    "list exchangerates",
    "watch exchangerates",
    "patch exchangerates/status",
  ]);
  expect(LEASES.map(told)).toEqual(["get leases", "list leases", "update leases", "watch leases", "create leases"]);
  expect(LEASES.map(({ names }) => names)).toEqual([...Array(4).fill([NAME]), undefined]);
  expect(INSTALLING.map(told).sort()).toEqual(
    ["create", "get", "list", "patch", "watch"].map((verb) => `${verb} customresourcedefinitions`),
  );
});

describe.each<ClusterKind>(["embedded", "real"])("an operator deployed to the %s cluster", (kind) => {
  let cluster: TestCluster;
  let admin: Client;
  let rates: HeldRates;
  let folder: string;
  let kubeconfig: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), "lotse-deploy-"));
    kubeconfig = path.join(folder, "kubeconfig");
    cluster = await startCluster(kind, { tls: true });
    admin = await cluster.connect();
    rates = await startRates();
    process.env.RATES_URL = rates.url;
    await ok(["create", "namespace", NAMESPACE]);
    await ok(["apply", "-f", "-"], GENERATED);
    const { stdout } = await ok(["create", "token", NAME, "-n", NAMESPACE]);
    const config = structuredClone(cluster.kubeconfig) as { users: { user: object }[] };
    for (const one of config.users) one.user = { token: stdout.trim() };
    writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  });

  afterEach(async () => {
    for (const one of await admin.list(ExchangeRate, { namespace: NAMESPACE }).toArray()) await one.delete();
    await setRights(RIGHTS);
    await setRights(LEASES, { role: "own" });
  });

  afterAll(async () => {
    delete process.env.RATES_URL;
    await rates?.close();
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function ok(args: readonly string[], stdin = "") {
    const outcome = await cluster.kubectl(args, { stdin });
    expect(outcome, `kubectl ${args.join(" ")}`).toMatchObject({ exitCode: 0 });
    return outcome;
  }

  /** Makes the role allow exactly `rights`, and waits until the cluster goes by it. */
  async function setRights(
    rights: readonly Right[],
    { withheld, role = "cluster" }: { withheld?: Right; role?: "cluster" | "own" } = {},
  ): Promise<void> {
    const rules = rights.map(({ group, resource, verb, names }) => ({
      apiGroups: [group],
      resources: [resource],
      verbs: [verb],
      ...(names && { resourceNames: [...names] }),
    }));
    if (role === "cluster") await admin.patch(ClusterRole, NAME, { rules });
    else await admin.patch(Role, `${NAME}-own`, { rules }, { namespace: NAMESPACE });
    await vi.waitFor(async () => {
      const granted = await Promise.all(rights.map(isGranted));
      expect(rights.filter((_, i) => !granted[i]).map(told)).toEqual([]);
      if (withheld) expect(await isGranted(withheld), told(withheld)).toBe(false);
    }, 10_000);
  }

  /** What the cluster says about a right of the operator's account. */
  async function isGranted({ verb, group, resource: full, names }: Right): Promise<boolean> {
    const [resource, subresource] = full.split("/");
    const review = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: {
        user: `system:serviceaccount:${NAMESPACE}:${NAME}`,
        resourceAttributes: { namespace: NAMESPACE, verb, group, resource, subresource, name: names?.[0] },
      },
    };
    const address = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    const answer = await admin.raw({ method: "POST", path: address, body: review });
    return (await answer.json<{ status: { allowed: boolean } }>()).status.allowed;
  }

  it("runs as `lotse run` with its Deployment's environment, and does its whole job", async () => {
    const { env = [] } = MANIFESTS.find((one) => one.kind === "Deployment")?.spec?.template?.spec.containers[0] ?? {};
    const child = spawn(process.execPath, [LOTSE, "run", EXAMPLE, "--log-format", "json"], {
      cwd: ROOT,
      env: {
        ...process.env,
        ...Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))),
        // What the downward API would say.
        POD_NAME: "the-pod",
        POD_NAMESPACE: NAMESPACE,
        // Both clusters of this file, and others, may be up at the same time.
        LOTSE_RUN_LIVENESS: "http://127.0.0.1:0/healthz",
        LOTSE_RUN_EXPLAIN: "http://127.0.0.1:0",
        KUBECONFIG: kubeconfig,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    try {
      const job = wholeJob(admin, rates, { name: "shown", namespace: NAMESPACE, signal: AbortSignal.timeout(60_000) });
      const early = ended.then((code) => Promise.reject(new Error(`the operator ended with ${code}:\n${log}`)));
      await Promise.race([job, early]);
      expect(log).toContain(`system:serviceaccount:${NAMESPACE}:${NAME}`);
      expect(log).toContain("this process leads");
      expect(log).not.toMatch(/forbidden|permission/i);
      const { spec } = await admin.get(Lease, NAME, { namespace: NAMESPACE });
      expect(spec?.holderIdentity).toMatch(/^the-pod_/);
    } finally {
      child.kill("SIGTERM");
    }
    expect(await ended).toBe(0);
  });

  it("has been recorded faithfully: its handlers do what the recording beside it says, and nothing else", async () => {
    const lines: string[] = [];
    const { complaint } = await attempt("recorded", { record: requestRecorder((line) => lines.push(line)) });
    expect(complaint).toBe("none, the job was done");
    const kept = readFileSync(path.join(ROOT, "examples/exchange-rates/operator.requests.jsonl"), "utf8");
    const asked = (text: string) => [...new Set(text.trim().split("\n").map(requestOf))].sort();
    expect(asked(lines.join(""))).toEqual(asked(kept));
  });

  it.each(RIGHTS.map((right) => [told(right), right] as const))(
    "does not do its job without the right to %s, and says so",
    async (_told, right) => {
      await setRights(
        RIGHTS.filter((one) => one !== right),
        { withheld: right },
      );
      const { complaint } = await attempt(`without-${right.verb}-${right.resource.replace("/", "-")}`);
      expect(complaint).toContain(`cannot ${right.verb} resource "${right.resource}"`);
    },
  );

  it.each(LEASES.map((right) => [told(right), right] as const))(
    "does not share its work as it should without the right to %s, and says so",
    async (_told, right) => {
      const withheld = right;
      await setRights(
        LEASES.filter((one) => one !== right),
        { withheld, role: "own" },
      );
      // Whoever has been before has left it behind.
      await admin.delete(Lease, NAME, { namespace: NAMESPACE, ignoreNotFound: true });
      const { line, leads } = await complaintAbout("leases", right.verb);
      expect(line).toMatchObject({ fields: { error: expect.stringContaining(`in the namespace "${NAMESPACE}"`) } });
      // Without a watch a process leads all the same, and others only see later that it has gone.
      expect(leads).toBe(!["get", "create"].includes(right.verb));
    },
  );

  /** Runs the operator as one of several, until it complains that it may not do something. */
  async function complaintAbout(resource: string, verb: string): Promise<{ line: LogRecord; leads: boolean }> {
    const client = await Client.connect({ kubeconfig, namespace: NAMESPACE });
    const lines: LogRecord[] = [];
    const log = minLevel("info", (line) => lines.push(line));
    const running = operator.start({ client, log, crds: "wait", coordination: "leader" });
    try {
      const leads = () => lines.some(({ message }) => message.includes("this process leads"));
      const complaint = () =>
        lines.find(({ fields }) => String(fields.error).includes(`cannot ${verb} resource "${resource}"`));
      await expect.poll(complaint, { timeout: 60_000 }).toBeDefined();
      // Whoever may create it has it, before anything else can be refused.
      if (verb !== "get" && verb !== "create") await expect.poll(leads, { timeout: 60_000 }).toBe(true);
      return { line: complaint() as LogRecord, leads: leads() };
    } finally {
      await running.stop();
      await client.close();
    }
  }

  it("that brings its definitions by itself does its whole job with the role of `lotse generate rbac`", async () => {
    await new CustomResourceDefinition(ExchangeRate.crd(), admin).delete({ wait: "90s" });
    await setRights([...INSTALLING, ...RIGHTS]);
    expect(await attempt("brought", { crds: "install" })).toEqual({ complaint: "none, the job was done" });
  });

  it.each(INSTALLING.map((right) => [told(right), right] as const))(
    "that brings its definitions by itself does not without the right to %s, and says so",
    async (_told, right) => {
      const definition = new CustomResourceDefinition(ExchangeRate.crd(), admin);
      const rival = new CustomResourceDefinition(rivalOf(ExchangeRate.crd()), admin);
      await definition.delete({ wait: "90s" });
      await rival.create();
      try {
        await setRights([...RIGHTS, ...INSTALLING.filter((one) => one !== right)], { withheld: right });
        const { complaint } = await attempt("installed", { crds: "install" });
        expect(complaint).toContain(`cannot ${right.verb} resource "${right.resource}"`);
      } finally {
        await rival.delete({ wait: "90s" });
        await definition.apply({ fieldManager: "test", force: true });
        await definition.wait("condition=Established");
      }
    },
  );

  /** Runs the operator with what its account may do now, until its job is done or the cluster has refused something. */
  async function attempt(name: string, options: StartOptions = {}): Promise<{ complaint: string }> {
    const client = await Client.connect({ kubeconfig });
    const done = new AbortController();
    const timer = setTimeout(() => done.abort(new Error("the job was not done within a minute")), 60_000);
    const { signal } = done;
    let complain: (line: string) => void = () => {};
    const refused = new Promise<string>((resolve) => {
      complain = resolve;
    });
    // What people see of a log unless they ask for more.
    const log = minLevel("warn", ({ message, fields }) => {
      const reason = String(fields?.error ?? fields?.reason ?? "");
      if (/is forbidden/.test(reason)) complain(`${message}: ${reason}`);
    });
    const running = operator.start({ client, log, crds: "wait", ...options });
    const job = wholeJob(admin, rates, { name, namespace: NAMESPACE, signal });
    try {
      return { complaint: await Promise.race([refused, job.then(() => "none, the job was done")]) };
    } finally {
      clearTimeout(timer);
      done.abort();
      await Promise.allSettled([job]);
      await running.stop();
      await client.close();
    }
  }
});

/**
 * A definition that has taken the kind already: as long as it is there, the operator's own cannot be established, and
 * somebody who waits for that has to watch.
 */
function rivalOf(crd: CustomResourceDefinition["body"]): CustomResourceDefinition["body"] {
  const { group, names } = crd.spec;
  const own = { kind: names.kind, listKind: `${names.kind}List`, plural: "rivals", singular: "rival" };
  return { ...crd, metadata: { name: `rivals.${group}` }, spec: { ...crd.spec, names: own } };
}

/** A recorded request without what differs from run to run: `PATCH configmaps/…`. */
function requestOf(line: string): string {
  const { method, path: asked } = JSON.parse(line) as { method: string; path: string };
  const [plural, name, subresource] = asked.split("?", 1)[0]?.split(`/namespaces/${NAMESPACE}/`)[1]?.split("/") ?? [];
  return `${method} ${[plural, name && "…", subresource].filter(Boolean).join("/")}`;
}
