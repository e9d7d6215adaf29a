/**
 * What a newcomer does wrong: each mistake is told in at most three lines (what happened, why, what to do), without a
 * stack, with the exit code that a script can rely on. Some are made in a real process; for the others the command runs in
 * this one, on the same project, which takes a tenth of the time.
 */
import { createServer, type Server } from "node:net";
import path from "node:path";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../packages/lotse/src/cli/terminal/test-io.ts";
import { Project, type Told } from "./project.ts";

const OPERATOR = `
import { Operator } from "lotse";
import { ConfigMap } from "lotse/client";
const operator = new Operator({ name: "good" });
operator.on.create(ConfigMap, function publish() {});
export default operator;
`;

const kubeconfig = (server: string, user: object, more: object = {}) =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "dev",
    clusters: [{ name: "one", cluster: { server, ...more } }],
    users: [{ name: "me", user }],
    contexts: ["dev", "staging"].map((name) => ({ name, context: { cluster: "one", user: "me" } })),
  });

let project: Project;

beforeAll(() => {
  project = new Project();
  project.write("operator.ts", OPERATOR);
  // Nobody ever listens on port 1.
  project.write("nowhere.yaml", kubeconfig("https://127.0.0.1:1", { token: "x" }));
}, 300_000);

afterAll(() => project.remove());

/** What the command says when it fails, and how it exits. */
async function lotse(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { folder: cwd } = project;
  const { code, out, err } = await runCommand(argv, { cwd, env: { HOME: cwd, TMPDIR: cwd, ...env } });
  return failure({ code, out: project.masked(out), err: project.masked(err) });
}

/** The same in a process of its own. */
async function lotseProcess(argv: readonly string[]): Promise<string> {
  return failure(await project.lotse(argv));
}

function failure({ code, out, err }: Told): string {
  expect(out).toBe("");
  // The log goes the same way; what the command itself says are the other lines.
  const told = err
    .trimEnd()
    .split("\n")
    .filter((line) => !line.startsWith('{"time":'));
  expect(told.length, err).toBeLessThanOrEqual(3);
  expect(err).not.toMatch(/^\s+at /m);
  return `${err}exit code ${code}`;
}

describe("a typo", () => {
  it("in a command", async () => {
    expect(await lotseProcess(["rnu", "operator.ts"])).toMatchInlineSnapshot(`
      "Error: unknown command 'rnu'
      Do:    did you mean run? Else see \`lotse --help\`
      exit code 2"
    `);
  });

  it("in an option", async () => {
    expect(await lotse(["run", "operator.ts", "--contxt", "dev"])).toMatchInlineSnapshot(`
      "Error: unknown option '--contxt'
      Do:    did you mean --context? Else see \`lotse run --help\`
      exit code 2"
    `);
  });

  it("in what to generate", async () => {
    expect(await lotse(["generate", "crds", "operator.ts"])).toMatchInlineSnapshot(`
      "Error: nobody can generate "crds"
      Do:    choose one of crd, rbac, deploy, dockerfile, helm, olm, dashboard, alerts, types
      exit code 2"
    `);
  });

  it("in an environment variable's value", async () => {
    expect(await lotse(["run", "operator.ts"], { LOTSE_RUN_LOG_FORMAT: "jsn" })).toMatchInlineSnapshot(`
      "Error: LOTSE_RUN_LOG_FORMAT is "jsn"; it can be pretty or json.
      Do:    see \`lotse run --help\`
      exit code 2"
    `);
  });

  it("in the name of a file", async () => {
    expect(await lotse(["run", "operatr.ts"])).toMatchInlineSnapshot(`
      "Error: there is no file operatr.ts
      Do:    did you mean operator.ts?
      exit code 2"
    `);
  });

  it("in a method of the operator", async () => {
    project.write("method.ts", OPERATOR.replace("on.create", "on.crate"));
    expect(await lotseProcess(["run", "method.ts"])).toMatchInlineSnapshot(`
      "Error: method.ts throws while it is loaded
      Why:   TypeError: operator.on.crate is not a function (at method.ts:5:13)
      Do:    check the spelling there; \`lotse check method.ts\` knows every name
      exit code 1"
    `);
  });

  it("in an import", async () => {
    project.write("import.ts", OPERATOR.replace('from "lotse"', 'from "lotze"'));
    expect(await lotse(["run", "import.ts"])).toMatchInlineSnapshot(`
      "Error: import.ts imports "lotze", which cannot be found
      Do:    check its spelling; if it is right: npm install lotze
      exit code 1"
    `);
  });

  it("in the syntax", async () => {
    project.write("syntax.ts", OPERATOR.replace("publish() {}", "publish() {"));
    expect(await lotse(["run", "syntax.ts"])).toMatchInlineSnapshot(`
      "Error: syntax.ts does not compile
      Why:   syntax.ts:5:50: Unexpected token
      Do:    correct it and try again
      exit code 1"
    `);
  });

  it("in the name of a context, of which the known ones are told", async () => {
    const argv = ["run", "operator.ts", "--kubeconfig", "nowhere.yaml", "--context", "stagin"];
    expect(await lotse(argv)).toMatchInlineSnapshot(`
      "Error: there is no context "stagin" in PROJECT/nowhere.yaml
      Do:    the contexts are: dev, staging
      exit code 1"
    `);
  });

  it("in a kubeconfig", async () => {
    project.write("broken.yaml", "apiVersion: v1\nkind: Config\nclusters:\n  - name: one\n   cluster: {}\n");
    expect(
      await lotse(["run", "operator.ts"], { KUBECONFIG: path.join(project.folder, "broken.yaml") }),
    ).toMatchInlineSnapshot(`
      "Error: PROJECT/broken.yaml is not valid YAML in line 5, column 4: bad indentation of a sequence entry
      Do:    correct that line, or write the file anew with the tool that made it
      exit code 1"
    `);
  });

  it("in a manifest to compare with", async () => {
    project.write("crd.yaml", "kind: CustomResourceDefinition\nspec: {group: example.com\n");
    const argv = ["check", "operator.ts", "--no-cluster", "--against", "crd.yaml"];
    expect(await lotse(argv)).toMatchInlineSnapshot(`
      "Error: PROJECT/crd.yaml:3: this is not YAML: deficient indentation
      Do:    check the indentation and the quotes there, and in the line above
      exit code 1"
    `);
  });

  it("in a manifest to make types of", async () => {
    project.write("types.yaml", "kind: CustomResourceDefinition\nspec: {group: example.com\n");
    expect(await lotse(["generate", "types", "types.yaml"])).toMatchInlineSnapshot(`
      "Error: PROJECT/types.yaml:3: this is not YAML: deficient indentation
      Do:    check the indentation and the quotes there, and in the line above
      exit code 1"
    `);
  });

  it("in a field, found by check, where it stands", { timeout: 300_000 }, async () => {
    project.writeSettings();
    project.write("field.ts", OPERATOR.replace("publish() {}", "publish({ nmae }) {}"));
    const { code, out, err } = await project.lotse(["check", "field.ts", "--no-cluster"]);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out.replace(/TypeScript [\d.]+/, "TypeScript")).toMatchInlineSnapshot(`
      "error    field.ts:5:50: Property 'nmae' does not exist on type 'ChangeContext<ConfigMap, ConfigMap>'. (TS2339)
      checked types (TypeScript), requests of handlers: 1 error, 0 warnings
      "
    `);
  });
});

describe("a file", () => {
  it("that is not named", async () => {
    expect(await lotse(["run"])).toMatchInlineSnapshot(`
      "Error: no file given
      Do:    name the file that exports your operator: lotse run operator.ts
      exit code 2"
    `);
  });

  it("that is no code", async () => {
    expect(await lotse(["run", "nowhere.yaml"])).toMatchInlineSnapshot(`
      "Error: nowhere.yaml is neither TypeScript nor JavaScript
      Do:    name a file that ends in .ts, .mts, .js or .mjs
      exit code 2"
    `);
  });

  it("that exports no operator", async () => {
    project.write("none.ts", "export const rate = 1;\n");
    expect(await lotse(["run", "none.ts"])).toMatchInlineSnapshot(`
      "Error: none.ts exports no operator
      Why:   it exports rate
      Do:    add to it: const operator = new Operator({ name: "…" }); export default operator;
      exit code 1"
    `);
  });

  it("that exports two operators of one name", async () => {
    project.write("two.ts", `${OPERATOR}export const other = new Operator({ name: "good" });\n`);
    expect(await lotse(["run", "two.ts"])).toMatchInlineSnapshot(`
      "Error: two operators are called "good": both in two.ts
      Why:   an operator's name is its mark on objects; with the same one they would undo each other's work
      Do:    give one of them another name: new Operator({ name: "…" })
      exit code 1"
    `);
  });

  it("that throws", async () => {
    project.write("throws.ts", 'throw new Error("no such database");\n');
    expect(await lotse(["run", "throws.ts"])).toMatchInlineSnapshot(`
      "Error: throws.ts throws while it is loaded
      Why:   no such database (at throws.ts:1)
      Do:    run it again with --verbose to see the stack
      exit code 1"
    `);
  });
});

describe("a port in use", () => {
  let server: Server;
  let port: number;

  beforeAll(async () => {
    server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    port = (server.address() as { port: number }).port;
  });

  afterAll(() => {
    server.close();
  });

  const masked = (text: string) => text.replaceAll(String(port), "PORT");

  it("by another program, for the cluster", async () => {
    expect(masked(await lotse(["cluster", "--port", String(port)]))).toMatchInlineSnapshot(`
      "Error: port PORT is taken
      Why:   another program listens on it, perhaps another cluster
      Do:    choose another with --port, or leave it out to get a free one
      exit code 1"
    `);
  });

  it("by another program, for dev", async () => {
    expect(masked(await lotse(["dev", "operator.ts", "--port", String(port)]))).toMatchInlineSnapshot(`
      "Error: port PORT is taken
      Why:   another program listens on it, perhaps another cluster
      Do:    choose another with --port, or leave it out to get a free one
      exit code 1"
    `);
  });

  it("by another program, for health", async () => {
    await using cluster = await Cluster.start({ kubelet: false });
    await cluster.writeKubeconfig(path.join(project.folder, "kubeconfig"));
    const argv = ["run", "operator.ts", "--kubeconfig", "kubeconfig", "-q", "-L", `http://127.0.0.1:${port}/healthz`];
    expect(masked(await lotse(argv))).toMatchInlineSnapshot(`
      "Error: health cannot be served at http://127.0.0.1:PORT/healthz
      Why:   another program listens there
      Do:    choose another port with --liveness
      exit code 1"
    `);
  });
});

describe("an operator", () => {
  it("whose startup handler fails for good, with the place in its file", async () => {
    await using cluster = await Cluster.start({ kubelet: false });
    await cluster.writeKubeconfig(path.join(project.folder, "kubeconfig"));
    project.write(
      "startup.ts",
      OPERATOR.replace(
        "export",
        'operator.on.startup({ errors: "permanent" }, function open() { throw new Error("no rates today"); });\nexport',
      ),
    );
    expect(await lotse(["run", "startup.ts", "--kubeconfig", "kubeconfig", "-q"])).toMatch(
      /^\{.*"startup handler failed for good".*\}\nError: the startup handler open .*no rates today\nWhy: {3}it was thrown at startup\.ts:6:\d+\nDo: {4}mend it there; --verbose adds the whole stack\nexit code 1$/,
    );
  });
});

describe("a cluster", () => {
  it("that is not there", async () => {
    expect(await lotse(["run", "operator.ts", "--kubeconfig", "nowhere.yaml"])).toMatchInlineSnapshot(`
      "Error: cannot reach the cluster at https://127.0.0.1:1
      Why:   connection refused
      Do:    start one with \`npx lotse cluster\`, or choose another with --context or --kubeconfig
      exit code 1"
    `);
  });

  it("that nobody has configured", async () => {
    expect(await lotse(["run", "operator.ts"])).toMatchInlineSnapshot(`
      "Error: no cluster is configured
      Why:   looked for PROJECT/.kube/config and a pod's service account in /var/run/secrets/kubernetes.io/serviceaccount
      Do:    start one with \`npx lotse cluster\`, or name a kubeconfig with --kubeconfig or $KUBECONFIG
      exit code 1"
    `);
  });

  it("whose kubeconfig is not there", async () => {
    expect(await lotse(["run", "operator.ts", "--kubeconfig", "not-there"])).toMatchInlineSnapshot(`
      "Error: there is no kubeconfig at PROJECT/not-there
      Do:    check the path, or leave it out
      exit code 1"
    `);
  });

  it("that does not accept the token", async () => {
    await using cluster = await Cluster.start({ rbac: true, kubelet: false });
    const [one] = cluster.kubeconfig.clusters ?? [];
    project.write("expired.yaml", kubeconfig(cluster.url, { token: "expired" }, one?.cluster));
    const told = await lotse(["run", "operator.ts", "--kubeconfig", "expired.yaml"]);
    expect(told.replaceAll(cluster.url, "SERVER")).toMatchInlineSnapshot(`
      "Error: the cluster at SERVER does not accept the credentials
      Why:   Unauthorized
      Do:    the server does not know the token of the user "me" (context "dev" in PROJECT/expired.yaml): log in again, or check that it is for this cluster
      exit code 1"
    `);
  });

  it("that forbids it", async () => {
    await using cluster = await Cluster.start({ rbac: true, kubelet: false });
    project.write("jane.yaml", JSON.stringify(cluster.kubeconfigFor({ user: "jane" })));
    expect(await lotse(["uninstall", "operator.ts", "--kubeconfig", "jane.yaml"])).toMatchInlineSnapshot(`
      "Error: configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" at the cluster scope
      Do:    ask for a Role or ClusterRole that allows this verb, or use another context
      exit code 1"
    `);
    const required = [
      "run",
      "operator.ts",
      "--kubeconfig",
      "jane.yaml",
      "--require-permissions",
      "--log-format",
      "json",
    ];
    const { code, err } = await project.lotse([...required, "-q"]);
    const [warning = "", ...lines] = err.split("\n");
    expect(JSON.parse(warning)).toMatchObject({ level: "warn", user: "jane" });
    expect(`${lines.join("\n")}exit code ${code}`).toMatchInlineSnapshot(`
      "Error: permissions are missing, and --require-permissions was given
      Why:   get, list, patch, watch configmaps; create, patch events
      Do:    apply the rules above as an administrator, then start again
      exit code 1"
    `);
  });

  it("whose data cannot be written", async () => {
    expect(await lotse(["cluster", "--data", "operator.ts/data"])).toMatchInlineSnapshot(`
      "Error: the data folder PROJECT/operator.ts/data cannot be made: ENOTDIR: not a directory, mkdir 'PROJECT/operator.ts/data'
      Do:    choose another place
      exit code 1"
    `);
  });

  it("whose kubeconfig cannot be written", async () => {
    expect(await lotse(["cluster", "--kubeconfig", "operator.ts/kubeconfig"])).toMatchInlineSnapshot(`
      "Error: the kubeconfig PROJECT/operator.ts/kubeconfig cannot be written
      Why:   EEXIST: file already exists, mkdir 'PROJECT/operator.ts'
      Do:    choose another place with --kubeconfig
      exit code 1"
    `);
  });
});

describe("a machine", () => {
  it("whose Node.js is too old", async () => {
    const pretend = `data:text/javascript,Object.defineProperty(process.versions, "node", { value: "18.20.4" })`;
    expect(failure(await project.lotse(["run", "operator.ts"], {}, ["--import", pretend]))).toMatchInlineSnapshot(`
      "Error: Node.js 18.20.4 is too old for Lotse
      Why:   it needs 20.19 or newer
      Do:    install a newer one from https://nodejs.org, or with your version manager
      exit code 1"
    `);
  });
});
