import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type AuditEvent, auditPolicy, parseAuditLog } from "./audit.ts";
import { binFolder, isBuilt, programPath } from "./build.ts";
import { freePorts, ServerProcess } from "./server-process.ts";

/** A kubeconfig with one cluster, one user and one context. */
export interface Kubeconfig {
  apiVersion: "v1";
  kind: "Config";
  "current-context": string;
  clusters: { name: string; cluster: { server: string; "certificate-authority-data": string } }[];
  users: { name: string; user: { token: string } }[];
  contexts: { name: string; context: { cluster: string; user: string; namespace: string } }[];
}

/** Options of {@link RealCluster.start}. */
export interface RealClusterOptions {
  /**
   * Controllers of kube-controller-manager to run, `[]` for none. Default: what the embedded cluster does too,
   * aggregated roles, garbage collection, namespaces and service accounts.
   */
  readonly controllers?: readonly string[];
  /** Further flags for kube-apiserver. */
  readonly flags?: readonly string[];
}

const usualControllers = [
  "clusterrole-aggregation-controller",
  "garbage-collector-controller",
  "namespace-controller",
  "serviceaccount-controller",
];
const startLimitMs = 90_000;

/**
 * A real kube-apiserver with its etcd on the loopback interface. Nothing of it outlives {@link RealCluster.stop}, nor
 * the process that started it.
 *
 * @example
 * await using cluster = await RealCluster.start();
 */
export class RealCluster {
  readonly url: string;
  /** Admin: a member of system:masters. */
  readonly kubeconfig: Kubeconfig;
  readonly kubectlPath: string = programPath("kubectl");
  /** Data, logs and the audit log of the servers. */
  readonly folder: string;
  readonly #servers: ServerProcess[];
  readonly #guard: Guard;
  readonly #etcd: string;
  #stopping: Promise<void> | undefined;

  private constructor(
    url: string,
    kubeconfig: Kubeconfig,
    folder: string,
    servers: ServerProcess[],
    guard: Guard,
    etcd: string,
  ) {
    this.#etcd = etcd;
    this.url = url;
    this.kubeconfig = kubeconfig;
    this.folder = folder;
    this.#servers = servers;
    this.#guard = guard;
  }

  /** Starts etcd, kube-apiserver and kube-controller-manager, and waits until the API server is ready. */
  static async start(options: RealClusterOptions = {}): Promise<RealCluster> {
    if (!isBuilt()) {
      throw new Error(
        `The real servers are not in ${binFolder()}.\nRun \`npm run test:real\`, which builds them first.`,
      );
    }
    // A port that was free a moment ago may be taken now; then everything starts again with others.
    for (let attempt = 1; ; attempt++) {
      try {
        return await startOnce(options, (...parts) => new RealCluster(...parts));
      } catch (error) {
        if (attempt === 3 || !/address already in use/.test(String(error))) throw error;
      }
    }
  }

  /** The processes of the servers, etcd first. */
  get pids(): readonly number[] {
    return this.#servers.map((server) => server.pid);
  }

  /** Everything that was asked of the API server so far (but by itself), see {@link auditPolicy}. */
  async auditLog(): Promise<AuditEvent[]> {
    return parseAuditLog(readFileSync(path.join(this.folder, "audit.log"), "utf8"));
  }

  /** Makes etcd forget every revision but the present one, as it does by itself every five minutes. */
  async compact(): Promise<void> {
    const post = async (path: string, body: object): Promise<unknown> => {
      const answer = await fetch(`${this.#etcd}${path}`, { method: "POST", body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`etcd answers ${answer.status} to ${path}: ${await answer.text()}`);
      return answer.json();
    };
    const { header } = (await post("/v3/kv/range", { key: Buffer.from("x").toString("base64") })) as {
      header: { revision: string };
    };
    await post("/v3/kv/compaction", { revision: header.revision, physical: true });
  }

  /** Writes the admin's kubeconfig; JSON is YAML. */
  writeKubeconfig(file: string): void {
    writeFileSync(file, JSON.stringify(this.kubeconfig, null, 2), { mode: 0o600 });
  }

  /** Stops the API server first, then etcd, and removes their data. */
  stop(): Promise<void> {
    this.#stopping ??= tearDown(this.#servers, this.#guard, this.folder);
    return this.#stopping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

type Make = (
  ...parts: [url: string, kubeconfig: Kubeconfig, folder: string, servers: ServerProcess[], guard: Guard, etcd: string]
) => RealCluster;

async function startOnce(options: RealClusterOptions, make: Make): Promise<RealCluster> {
  const controllers = options.controllers ?? usualControllers;
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-real-"));
  const guard = new Guard(folder);
  const servers: ServerProcess[] = [];
  const launch = async (program: Parameters<typeof programPath>[0], args: readonly string[]) => {
    const server = await ServerProcess.start(programPath(program), args, folder);
    servers.push(server);
    guard.watch(server.pid);
    return server;
  };
  try {
    const [clientPort = 0, peerPort = 0, apiPort = 0, managerPort = 0] = await freePorts(4);
    const url = `https://127.0.0.1:${apiPort}`;
    const tokens = writeCredentials(folder);
    await launch("etcd", etcdFlags(folder, clientPort, peerPort));
    await launch("kube-apiserver", [
      ...apiServerFlags(folder, clientPort, apiPort),
      ...(controllers.length === 0 ? ["--disable-admission-plugins=ServiceAccount"] : []),
      ...(options.flags ?? []),
    ]);
    const ca = await untilReady(url, folder, tokens.admin, servers);
    const admin = kubeconfigFor(url, ca, "admin", tokens.admin);
    if (controllers.length > 0) {
      const manager = kubeconfigFor(url, ca, "manager", tokens.manager);
      writeFileSync(path.join(folder, "manager.kubeconfig"), JSON.stringify(manager), { mode: 0o600 });
      await launch("kube-controller-manager", managerFlags(folder, managerPort, controllers));
    }
    return make(url, admin, folder, servers, guard, `http://127.0.0.1:${clientPort}`);
  } catch (error) {
    await tearDown(servers, guard, folder);
    throw error;
  }
}

async function tearDown(servers: readonly ServerProcess[], guard: Guard, folder: string): Promise<void> {
  // In reverse order: an API server without its etcd hangs in its own shutdown.
  for (const server of [...servers].reverse()) await server.stop();
  guard.dismiss();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function writeCredentials(folder: string): { admin: string; manager: string } {
  const tokens = { admin: randomBytes(16).toString("hex"), manager: randomBytes(16).toString("hex") };
  const { privateKey, publicKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    privateKeyEncoding: { type: "sec1", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text, { mode: 0o600 });
  write("sa.key", privateKey);
  write("sa.pub", publicKey);
  // token, user, uid, groups
  // The administrator is called as that of the embedded cluster is, so that answers which name him can be compared.
  write(
    "tokens.csv",
    `${tokens.admin},kubernetes-admin,,"system:masters"\n${tokens.manager},system:kube-controller-manager,manager,"system:masters"\n`,
  );
  write("audit-policy.json", JSON.stringify(auditPolicy));
  write("audit.log", "");
  return tokens;
}

function etcdFlags(folder: string, clientPort: number, peerPort: number): string[] {
  const client = `http://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  return [
    `--data-dir=${path.join(folder, "etcd")}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    "--unsafe-no-fsync",
    "--log-level=warn",
  ];
}

function apiServerFlags(folder: string, etcdPort: number, port: number): string[] {
  const at = (name: string) => path.join(folder, name);
  return [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--secure-port=${port}`,
    `--cert-dir=${at("certificates")}`,
    // It refuses to publish a loopback address as the endpoint of the service "kubernetes".
    "--endpoint-reconciler-type=none",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${at("sa.pub")}`,
    `--service-account-signing-key-file=${at("sa.key")}`,
    `--token-auth-file=${at("tokens.csv")}`,
    "--authorization-mode=RBAC",
    "--allow-privileged=true",
    `--audit-policy-file=${at("audit-policy.json")}`,
    `--audit-log-path=${at("audit.log")}`,
    "--audit-log-mode=blocking",
    "--shutdown-delay-duration=0s",
  ];
}

function managerFlags(folder: string, port: number, controllers: readonly string[]): string[] {
  const kubeconfig = path.join(folder, "manager.kubeconfig");
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--cert-dir=${path.join(folder, "manager-certificates")}`,
    "--leader-elect=false",
    `--controllers=${controllers.join(",")}`,
    `--service-account-private-key-file=${path.join(folder, "sa.key")}`,
  ];
}

function kubeconfigFor(url: string, ca: string, user: string, token: string): Kubeconfig {
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "real",
    clusters: [
      { name: "real", cluster: { server: url, "certificate-authority-data": Buffer.from(ca).toString("base64") } },
    ],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: "real", context: { cluster: "real", user, namespace: "default" } }],
  };
}

/** Waits for /readyz. Returns the certificate that the server has made for itself, with the authority that signed it. */
async function untilReady(
  url: string,
  folder: string,
  token: string,
  servers: readonly ServerProcess[],
): Promise<string> {
  const deadline = performance.now() + startLimitMs;
  let last = "no answer yet";
  while (performance.now() < deadline) {
    const dead = servers.find((server) => !server.running);
    if (dead) throw new Error(`${dead.name} ended while starting:\n${dead.tail()}`);
    try {
      const ca = readFileSync(path.join(folder, "certificates", "apiserver.crt"), "utf8");
      const { status, body } = await get(`${url}/readyz`, ca, token);
      if (status === 200) return ca;
      last = `${status} ${body
        .trim()
        .split("\n")
        .filter((line) => !line.startsWith("[+]"))
        .join("; ")}`;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(
    `kube-apiserver is not ready after ${startLimitMs / 1000} s (${last}):\n${servers.at(-1)?.tail() ?? ""}`,
  );
}

function get(url: string, ca: string, token: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      { ca, agent: false, timeout: 5000, headers: { authorization: `Bearer ${token}` } },
      (answer) => {
        let body = "";
        answer.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body }));
        answer.on("error", reject);
      },
    );
    call.on("timeout", () => call.destroy(new Error("no answer within 5 s")));
    call.on("error", reject);
    call.end();
  });
}

/** The other end of guard.mjs: ends the servers when this process is gone, however it went. */
class Guard {
  readonly #child: ChildProcess;

  constructor(folder: string) {
    this.#child = spawn(process.execPath, [fileURLToPath(new URL("./guard.mjs", import.meta.url))], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#child.unref();
    this.#child.stdin?.on("error", () => {}); // nobody but a debugger ends the guard; its loss harms no test
    this.#tell({ folder });
  }

  watch(pid: number): void {
    this.#tell({ pid });
  }

  dismiss(): void {
    this.#tell({ done: true });
    this.#child.stdin?.end();
  }

  #tell(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }
}
