import { type ChildProcess, execFile, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { CertificateAuthority, type KeyAndCertificate } from "@lotse/client/certificates";
import type { BuildOptions } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { freePort } from "../test-port.ts";
import { NOT_COMPILED, runCommand } from "./command.ts";
import { installEnvtest } from "./install.ts";

let root: string;
let assets: string;
/** A folder for one test. */
let place: string;
const children: Program[] = [];

interface Program {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "lotse-envtest-"));
  vi.stubEnv("LOTSE_CACHE", join(root, "cache"));
  const bundle = join(root, "envtest.cjs");
  const { build } = await import("esbuild");
  const common = {
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    charset: "ascii",
    conditions: ["@lotse/source"],
    legalComments: "none",
    logLevel: "silent",
  } satisfies BuildOptions;
  const source = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  await build({ ...common, entryPoints: [source("program.ts")], outfile: bundle });
  await build({
    ...common,
    entryPoints: [source("apiserver.ts")],
    outfile: join(root, "pack", "apiserver.cjs"),
    banner: { js: "(function (exports, require, module, __filename, __dirname) {" },
    footer: { js: "})" },
  });
  // A place with a blank in its name, as some home folders have.
  const made = await installEnvtest(join(root, "k8s bin"), { launch: [bundle] });
  expect(made.compiled).toBe(true);
  assets = made.folder;
}, 60_000);

afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(root, { recursive: true, force: true });
});

beforeEach(async () => {
  place = await mkdtemp(join(root, "test-"));
});

afterEach(async () => {
  for (const { process, ended } of children.splice(0)) {
    process.kill("SIGKILL");
    await ended;
  }
});

function start(name: string, ...argv: string[]): Program {
  const child = spawn(join(assets, name), argv, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const ended = once(child, "close").then(([code]) => code as number | null);
  const program = { process: child, output: () => output, ended };
  children.push(program);
  return program;
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Undefined while no server answers. */
function ask(url: string, options: object = {}, body?: object): Promise<Reply | undefined> {
  return new Promise((resolve) => {
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    const headers = { "content-type": "application/json", ...(options as { headers?: object }).headers };
    const request = send(url, { rejectUnauthorized: false, ...options, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", () => resolve(undefined));
    });
    request.on("error", () => resolve(undefined));
    request.end(body && JSON.stringify(body));
  });
}

async function until<T>(look: () => Promise<T | undefined>, program: Program): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (program.process.exitCode !== null) throw new Error(`it ended instead:\n${program.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function startEtcd(port: number, ...more: string[]): Promise<Program> {
  const url = `http://127.0.0.1:${port}`;
  const etcd = start("etcd", `--data-dir=${join(place, "etcd")}`, `--listen-client-urls=${url}`, ...more);
  await until(() => ask(`${url}/health`), etcd);
  return etcd;
}

/** A control plane as envtest starts it: its own authority for clients, its own certificate, its own signing key. */
async function prepare() {
  const certs = join(place, "certs");
  await mkdir(certs, { recursive: true });
  const clients = new CertificateAuthority("clients", Date.now());
  const serving = new CertificateAuthority("serving", Date.now());
  const server = serving.issue({ commonName: "localhost", hosts: ["localhost", "127.0.0.1"], usage: "server" });
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await writeFile(join(certs, "clients.crt"), clients.certPem);
  await writeFile(join(certs, "apiserver.crt"), server.certPem);
  await writeFile(join(certs, "apiserver.key"), server.keyPem);
  await writeFile(join(certs, "sa.key"), privateKey.export({ type: "pkcs1", format: "pem" }));
  await writeFile(join(certs, "sa.pub"), publicKey.export({ type: "spki", format: "pem" }));
  const [etcdPort, port] = [await freePort(), await freePort()];
  const argv = [
    "--allow-privileged=true",
    "--authorization-mode=RBAC",
    "--bind-address=127.0.0.1",
    `--cert-dir=${certs}`,
    `--client-ca-file=${join(certs, "clients.crt")}`,
    "--disable-admission-plugins=ServiceAccount",
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    `--secure-port=${port}`,
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    `--service-account-key-file=${join(certs, "sa.pub")}`,
    `--service-account-signing-key-file=${join(certs, "sa.key")}`,
    "--service-cluster-ip-range=10.0.0.0/24",
  ];
  const url = `https://127.0.0.1:${port}`;
  const admin = clients.issue({ commonName: "admin", organizations: ["system:masters"], usage: "client" });
  const ready = async (program: Program) =>
    until(async () => {
      const reply = await ask(`${url}/healthz`, { ca: serving.certPem, rejectUnauthorized: true });
      return reply?.status === 200 ? reply : undefined;
    }, program);
  const as = ({ certPem, keyPem }: KeyAndCertificate) => {
    const agent = new Agent({ keepAlive: true, cert: certPem, key: keyPem, ca: serving.certPem });
    return async (method: string, path: string, body?: object) => {
      const reply = await ask(`${url}${path}`, { method, agent, rejectUnauthorized: true }, body);
      return { status: reply?.status, body: reply && JSON.parse(reply.text) };
    };
  };
  return { etcdPort, argv, url, ready, clients, admin: as(admin), as };
}

describe("the programs in the folder", () => {
  it("can be executed, and say what flags they have without being started", async () => {
    for (const name of ["etcd", "kube-apiserver"]) {
      expect((await stat(join(assets, name))).mode & 0o111).toBe(0o111);
      const program = start(name, "--help");
      expect([await program.ended, program.output()]).toEqual([0, expect.stringContaining("\n  --")]);
      expect(program.output()).not.toContain("--insecure-port");
    }
  });

  it("refuse a flag that nobody knows, with a sentence", async () => {
    for (const name of ["etcd", "kube-apiserver"]) {
      const program = start(name, "--no-such-flag=1");
      expect([await program.ended, program.output()]).toEqual([
        1,
        `Error: ${name}: unknown flag: --no-such-flag\nDo:    ${name} --help has those that there are\n`,
      ]);
    }
  });

  it("say what to do when the package that made them is gone", async () => {
    const { folder } = await installEnvtest(join(place, "bin"), { launch: [join(place, "gone.js")] });
    const child = spawn(join(folder, "etcd"), [], { stdio: ["ignore", "ignore", "pipe"] });
    const [text] = (await once(child.stderr.setEncoding("utf8"), "data")) as [string];
    const [code] = await once(child, "close");
    expect([code, text]).toEqual([
      1,
      `Error: etcd: ${join(place, "gone.js")} is gone\nDo:    npx @lotse/cluster envtest ${folder}\n`,
    ]);
  });

  it("spare Node.js the authorities that it would read at its start, and keep them for whom they are for", async () => {
    const node = join(place, "node");
    await writeFile(node, '#!/bin/sh\necho "<$NODE_EXTRA_CA_CERTS> <$LOTSE_EXTRA_CA_CERTS>"\n', {
      mode: 0o755,
    });
    const { folder } = await installEnvtest(join(place, "bin"), { node, launch: [node] });
    const told = async (env: object) => {
      const options = { env: { PATH: process.env.PATH, ...env } };
      const { stdout } = await promisify(execFile)(join(folder, "etcd"), [], options);
      return stdout.trim();
    };
    expect(await told({ NODE_EXTRA_CA_CERTS: "/etc/my roots.pem" })).toBe("<> </etc/my roots.pem>");
    expect(await told({})).toBe("<> <>");
  });

  it("end at once, and not well, when their port is taken", async () => {
    const plane = await prepare();
    const etcd = await startEtcd(plane.etcdPort);
    const second = start("etcd", `--data-dir=${place}/b`, `--listen-client-urls=http://127.0.0.1:${plane.etcdPort}`);
    expect([await second.ended, second.output()]).toEqual([1, expect.stringContaining("address already in use")]);
    const server = start(
      "kube-apiserver",
      ...plane.argv.filter((flag) => !flag.startsWith("--secure-port")),
      `--secure-port=${plane.etcdPort}`,
    );
    expect([await server.ended, server.output()]).toEqual([1, expect.stringContaining("address already in use")]);
    expect(etcd.process.exitCode).toBeNull();
  });

  it("end when they are told, and tell which flags have no effect", async () => {
    const plane = await prepare();
    const etcd = await startEtcd(plane.etcdPort, "--log-level=error");
    const server = start(
      "kube-apiserver",
      ...plane.argv,
      "--feature-gates=Some=true",
      "--enable-admission-plugins=NodeRestriction",
    );
    await plane.ready(server);
    for (const program of [server, etcd]) {
      program.process.kill("SIGTERM");
      expect(await program.ended).toBe(0);
    }
    expect(etcd.output()).toBe("etcd: without effect here: --log-level\n");
    expect(server.output()).toBe(
      "kube-apiserver: without effect here: --allow-privileged, --feature-gates\nkube-apiserver: without effect here: --enable-admission-plugins=NodeRestriction\n",
    );
  });

  it("end with whoever started them", async () => {
    const port = await freePort();
    const etcd = `${join(assets, "etcd")}`;
    const script = `const { spawn } = require("node:child_process");
      const child = spawn(${JSON.stringify(etcd)}, ["--data-dir=${place}/e", "--listen-client-urls=http://127.0.0.1:${port}"], { stdio: "ignore" });
      process.stdout.write(String(child.pid)); setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    await once(parent.stdout, "data");
    const alive = () => ask(`http://127.0.0.1:${port}/health`);
    while (!(await alive())) await new Promise((resolve) => setTimeout(resolve, 20));
    parent.kill("SIGKILL");
    while (await alive()) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await alive()).toBeUndefined();
  });
});

describe("compiled code for the programs", () => {
  it("is made with them, and used: nothing is compiled anew when they start", async () => {
    const folder = join(root, "cache", "code");
    const before = await readdir(folder);
    expect(before).toEqual([expect.stringMatching(/\.code$/)]);
    const { mtimeMs } = await stat(join(folder, before[0] as string));
    const plane = await prepare();
    await startEtcd(plane.etcdPort);
    await plane.ready(start("kube-apiserver", ...plane.argv));
    // What it had to compile it would keep a second later.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await readdir(folder)).toEqual(before);
    expect((await stat(join(folder, before[0] as string))).mtimeMs).toBe(mtimeMs);
  });

  it("may be damaged: they start as well, and mend it", async () => {
    const folder = join(root, "cache", "code");
    const [name = ""] = await readdir(folder);
    const whole = await readFile(join(folder, name));
    await writeFile(join(folder, name), whole.subarray(0, whole.length / 2));
    const plane = await prepare();
    await startEtcd(plane.etcdPort);
    const server = start("kube-apiserver", ...plane.argv);
    await plane.ready(server);
    await until(async () => ((await stat(join(folder, name))).size > whole.length / 2 + 1 ? true : undefined), server);
    expect(server.output()).toBe("kube-apiserver: without effect here: --allow-privileged\n");
  });

  it("may be impossible to keep: whoever makes the programs is told, and they start as well", async () => {
    await writeFile(join(place, "file"), "");
    vi.stubEnv("LOTSE_CACHE", join(place, "file"));
    try {
      const made = await installEnvtest(join(place, "bin"), { launch: [join(root, "envtest.cjs")] });
      expect(made.compiled).toBe(false);
      const plane = await prepare();
      await startEtcd(plane.etcdPort);
      await plane.ready(start("kube-apiserver", ...plane.argv));
    } finally {
      vi.stubEnv("LOTSE_CACHE", join(root, "cache"));
    }
  });
});

describe("a control plane of the programs", () => {
  it("answers who asked before it was there, as soon as it is", async () => {
    const plane = await prepare();
    // Nobody but the port: its etcd comes later.
    const server = start("kube-apiserver", ...plane.argv);
    const connected = () =>
      new Promise<true | undefined>((resolve) => {
        const socket = connect(Number(new URL(plane.url).port), "127.0.0.1", () => resolve(true));
        socket.on("error", () => resolve(undefined)).on("connect", () => socket.destroy());
      });
    await until(connected, server);
    const early = ask(`${plane.url}/healthz`);
    await startEtcd(plane.etcdPort);
    expect((await early)?.status).toBe(200);
  });

  it("believes whom envtest certifies, and has what a bare kube-apiserver writes", async () => {
    const plane = await prepare();
    await startEtcd(plane.etcdPort);
    await plane.ready(start("kube-apiserver", ...plane.argv));
    const { admin } = plane;
    expect((await admin("GET", "/api/v1/namespaces/default")).status).toBe(200);
    const { body: service } = await admin("GET", "/api/v1/namespaces/default/services/kubernetes");
    expect(service.spec.clusterIP).toBe("10.0.0.1");
    // No controllers: namespaces are not furnished, and roles that collect others are empty.
    expect((await admin("GET", "/api/v1/serviceaccounts")).body.items).toEqual([]);
    expect((await admin("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/admin")).body.rules).toBeNull();
    const jane = plane.as(plane.clients.issue({ commonName: "jane", usage: "client" }));
    const refused = await jane("GET", "/api/v1/namespaces/default/secrets");
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "default"',
    ]);
    // Tokens are signed with the key of the file, by the issuer of the flag.
    await admin("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "robot" } });
    const token = await admin("POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", { spec: {} });
    const [head = "", claims = ""] = token.body.status.token.split(".");
    const decode = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
    expect([decode(head).alg, decode(claims).iss]).toEqual(["RS256", `${plane.url}/`]);
    const flags = await ask(`${plane.url}/flagz`);
    expect(flags?.status).toBe(403);
  });

  it("finds everything again when only the API server starts anew", async () => {
    const plane = await prepare();
    await startEtcd(plane.etcdPort, "--unsafe-no-fsync=true");
    const first = start("kube-apiserver", ...plane.argv);
    await plane.ready(first);
    const path = "/api/v1/namespaces/default/configmaps";
    const names = Array.from({ length: 600 }, (_, i) => `map-${i}`);
    for (let i = 0; i < names.length; i += 50) {
      const made = await Promise.all(
        names.slice(i, i + 50).map((name) => plane.admin("POST", path, { metadata: { name } })),
      );
      expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]));
    }
    first.process.kill("SIGKILL");
    await first.ended;
    await plane.ready(start("kube-apiserver", ...plane.argv));
    const { body } = await plane.admin("GET", path);
    expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual([...names].sort());
  });

  it("says so when its etcd is somebody else's", async () => {
    const plane = await prepare();
    const stranger = createServer((socket) => socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"));
    await new Promise<void>((resolve) => stranger.listen(plane.etcdPort, "127.0.0.1", resolve));
    const server = start("kube-apiserver", ...plane.argv);
    expect([await server.ended, server.output()]).toEqual([
      1,
      expect.stringContaining("is not the one that belongs to this program"),
    ]);
    stranger.close();
  });

  it("makes its own certificate where there is none, as the real one does", async () => {
    const plane = await prepare();
    await startEtcd(plane.etcdPort);
    const other = join(place, "other");
    const argv = plane.argv.filter((flag) => !flag.startsWith("--cert-dir"));
    const server = start("kube-apiserver", ...argv, `--cert-dir=${other}`);
    await until(async () => ((await ask(`${plane.url}/healthz`))?.status === 200 ? true : undefined), server);
    expect((await stat(join(other, "apiserver.key"))).mode & 0o777).toBe(0o600);
  });
});

describe("npx @lotse/cluster", () => {
  it("puts the programs into a folder and prints the line for a shell", async () => {
    const told: string[] = [];
    const run = (...argv: string[]) =>
      runCommand(
        argv,
        (text) => told.push(text),
        (text) => told.push(text),
      );
    expect(await run("envtest", join(place, "bin"))).toBe(0);
    // Among the sources there is no program that could be started for nobody.
    expect(told.splice(0)).toEqual([`export KUBEBUILDER_ASSETS=${join(place, "bin")}\n`, NOT_COMPILED]);
    expect([await run(), await run("envtest"), await run("--help")]).toEqual([2, 2, 0]);
    await writeFile(join(place, "file"), "");
    told.splice(0);
    expect(await run("envtest", join(place, "file", "bin"))).toBe(1);
    expect(told.join("")).toContain("choose another folder");
  });
});
