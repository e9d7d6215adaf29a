/**
 * What people get wrong, one by one, with the exact words that they read: what was wrong, where (file, context, field,
 * request), and what to do about it.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import * as https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { dump } from "js-yaml";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { answer, type Handler, TEST_CA, TEST_SERVER_CERT, TEST_SERVER_KEY, TestServer } from "./fixtures/index.ts";
import { Client, ConfigMap, KubeError, loadManifests, Pod } from "./index.ts";

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lotse-bad-"));
  file = join(folder, "config");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The words of a failure, as a person reads them. */
async function words(act: () => unknown): Promise<{ code: string; message: string; hint: string | undefined }> {
  try {
    await act();
  } catch (error) {
    expect(error).toBeInstanceOf(KubeError);
    const { code, message, hint } = error as KubeError;
    return { code, message, hint };
  }
  throw new Error("nothing failed");
}

/** A kubeconfig of one context in {@link file}. */
async function configure(cluster: object, user: object = {}): Promise<void> {
  const config = {
    "current-context": "main",
    clusters: [{ name: "dev", cluster: { server: "https://127.0.0.1:1", ...cluster } }],
    users: [{ name: "jane", user }],
    contexts: [{ name: "main", context: { cluster: "dev", user: "jane" } }],
  };
  await writeFile(file, dump(config));
}

/** Asks for a pod with the configuration in {@link file}. */
async function ask(): Promise<unknown> {
  await using client = await Client.connect({ kubeconfig: file, env: {} });
  return await client.get(Pod, "web", { retry: false });
}

const GET = "GET /api/v1/namespaces/default/pods/web";

async function serve(handler: Handler, secure = false): Promise<TestServer> {
  const tls = { cert: TEST_SERVER_CERT, key: TEST_SERVER_KEY };
  const server = await TestServer.start(handler, secure ? (listener) => https.createServer(tls, listener) : undefined);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

describe("a kubeconfig", () => {
  const another =
    "choose another file with `kubeconfig` or $KUBECONFIG, or add a context with kubectl config set-context";

  it("that is empty", async () => {
    await writeFile(file, "# later\n");
    expect(await words(ask)).toEqual({ code: "LOTSE_CONFIG", message: `${file} is empty`, hint: another });
  });

  it("that is a folder", async () => {
    file = folder;
    expect(await words(ask)).toEqual({
      code: "LOTSE_CONFIG",
      message: `cannot read the kubeconfig ${folder}: it is a folder`,
      hint: "name a readable file",
    });
  });

  it("that is no YAML, without a word of what is in it", async () => {
    await writeFile(file, "users:\n- name: jane\n  user: { token: secret\n");
    expect(await words(ask)).toEqual({
      code: "LOTSE_CONFIG",
      message: `${file} is not valid YAML in line 4, column 1: deficient indentation`,
      hint: "correct that line, or write the file anew with the tool that made it",
    });
  });

  it("without contexts", async () => {
    await writeFile(file, dump({ clusters: [], users: [], contexts: [] }));
    expect(await words(ask)).toEqual({ code: "LOTSE_CONFIG", message: `${file} has no contexts`, hint: another });
  });

  it("whose certificate file is missing", async () => {
    await configure({ "certificate-authority": "ca.pem" });
    expect(await words(ask)).toEqual({
      code: "LOTSE_AUTH",
      message: `cannot read the certificate authority ${join(folder, "ca.pem")}: there is no such file`,
      hint: `check certificate-authority of the cluster "dev" in ${file}, and the file's permissions`,
    });
    await configure({}, { "client-certificate": "jane.pem", "client-key": "jane.key" });
    expect(await words(ask)).toMatchObject({
      message: `cannot read the client certificate ${join(folder, "jane.pem")}: there is no such file`,
      hint: `check client-certificate of the user "jane" in ${file}, and the file's permissions`,
    });
  });

  it("whose plugin is not installed", async () => {
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "no-such-login-helper",
      interactiveMode: "Never",
    };
    await configure({}, { exec });
    const message = `the credential plugin no-such-login-helper of the user "jane" in ${file} is not installed`;
    expect(await words(ask)).toEqual({
      code: "LOTSE_AUTH",
      message,
      hint: "install it, and see that it is in the PATH",
    });
    await configure({}, { exec: { ...exec, installHint: "npm install -g login-helper\n" } });
    expect(await words(ask)).toEqual({ code: "LOTSE_AUTH", message, hint: "npm install -g login-helper" });
  });
});

describe("a call", () => {
  it("that needs the name of an object with generateName alone", async () => {
    await configure({});
    await using client = await Client.connect({ kubeconfig: file, env: {} });
    const map = ConfigMap.gen({ generateName: "rate-" }).withClient(client);
    const expected = {
      code: "LOTSE_CONFIG",
      message: "this ConfigMap has no name yet",
      hint: 'the server makes one from generateName "rate-" when it is created',
    };
    expect(await words(() => map.name)).toEqual(expected);
    expect(await words(() => map.refresh())).toEqual(expected);
    expect(await words(() => map.label({ a: "b" }))).toEqual(expected);
    expect(await words(() => map.delete())).toEqual(expected);
  });

  it("with a selector that does not parse", async () => {
    await configure({});
    await using client = await Client.connect({ kubeconfig: file, env: {} });
    const terms = "its terms are key=value, key!=value, key in (a,b), key notin (a,b), key and !key, joined by commas";
    expect(await words(() => client.list(Pod, { labelSelector: "app web" }).toArray())).toEqual({
      code: "LOTSE_SELECTOR",
      message: "unable to parse requirement: found 'web', expected: in, notin, =, ==, !=, gt, lt",
      hint: `the label selector is "app web"; ${terms}`,
    });
    expect(await words(() => client.list(Pod, { labelSelector: { app: "a b" } }).toArray())).toMatchObject({
      message: expect.stringContaining('values[0][app]: Invalid value: "a b": a valid label must be'),
      hint: `the label selector is {"app":"a b"}; ${terms}`,
    });
    expect(await words(() => client.list(Pod, { fieldSelector: "metadata.name" }).toArray())).toEqual({
      code: "LOTSE_SELECTOR",
      message: "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
      hint: "the terms of a field selector are field=value and field!=value, joined by commas",
    });
    expect(await words(() => client.watch(Pod, { labelSelector: "a=1=2" }).next())).toMatchObject({
      message: "found '=', expected: ',' or 'end of string'",
      hint: `the label selector is "a=1=2"; ${terms}`,
    });
  });

  it("with a manifest that is wrong in line 7", async () => {
    const manifest = join(folder, "pod.yaml");
    const lines = ["apiVersion: v1", "kind: Pod", "metadata:", "  name: web", "spec:", "  containers:"];
    await writeFile(manifest, [...lines, "  - name: main: x", ""].join("\n"));
    expect(await words(() => loadManifests(manifest))).toEqual({
      code: "LOTSE_MANIFEST",
      message: `${manifest}:7: this is not YAML: bad indentation of a mapping entry`,
      hint: "check the indentation and the quotes there, and in the line above",
    });
  });
});

describe("a server", () => {
  it("that is not there", async () => {
    await configure({ server: "https://127.0.0.1:1" });
    expect(await words(ask)).toEqual({
      code: "LOTSE_CONNECTION",
      message: "cannot reach https://127.0.0.1:1: connection refused",
      hint: `is the cluster running, and is the context "main" in ${file} the right one?`,
    });
    await configure({ server: "https://nowhere.invalid" });
    expect(await words(ask)).toMatchObject({
      message: expect.stringMatching(/^cannot reach https:\/\/nowhere\.invalid: the host name (is unknown|cannot be)/),
      hint: `check the server address of the context "main" in ${file}, and the network`,
    });
  });

  it("that speaks plain HTTP", async () => {
    const { port } = await serve((_, response) => answer(response, 200, {}));
    await configure({ server: `https://127.0.0.1:${port}` });
    expect(await words(ask)).toEqual({
      code: "LOTSE_CONNECTION",
      message: `cannot reach https://127.0.0.1:${port}: it does not speak TLS`,
      hint: `the server speaks plain HTTP: write http://127.0.0.1:${port} as its address, or use its HTTPS port`,
    });
  });

  it("that has another authority", async () => {
    const { port } = await serve((_, response) => answer(response, 200, {}), true);
    const authority = join(folder, "ca.pem");
    await writeFile(authority, rootCertificates[0] as string);
    await configure({ server: `https://localhost:${port}`, "certificate-authority": "ca.pem" });
    const { message, hint } = await words(ask);
    expect(message).toMatch(
      new RegExp(`^cannot reach https://localhost:${port}: its certificate is not trusted \\(.+\\)$`),
    );
    expect(hint).toBe(
      `it is not signed by the certificate-authority of the cluster "dev" (${authority}): was the cluster made anew, or is this another one?`,
    );
    await writeFile(authority, TEST_CA);
    expect(await ask(), "the authority was all that was wrong").toBeInstanceOf(Pod);
  });

  it("that answers with a web page", async () => {
    const { url } = await serve((_, response) => response.end("<!doctype html><title>Sign in</title>"));
    await configure({ server: url });
    expect(await words(ask)).toEqual({
      code: "LOTSE_UNEXPECTED_ANSWER",
      message: `${GET}: the server answered 200, and not with JSON (a web page: "Sign in")`,
      hint: "is this the address of a Kubernetes API server? A proxy, a load balancer or a login page may have answered",
    });
  });

  it("that does not take a token that expired", async () => {
    const status = {
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      reason: "Unauthorized",
      message: "Unauthorized",
    };
    const { url } = await serve((_, response) => answer(response, 401, { ...status, code: 401 }));
    const claims = Buffer.from(JSON.stringify({ exp: Date.parse("2020-01-01T00:00:00Z") / 1_000 }));
    await configure({ server: url }, { token: `h.${claims.toString("base64url")}.s` });
    expect(await words(ask)).toEqual({
      code: "LOTSE_UNAUTHORIZED",
      message: "Unauthorized",
      hint: `the token of the user "jane" expired at 2020-01-01T00:00:00.000Z (context "main" in ${file}): log in again`,
    });
  });

  it("that refuses a patch because somebody else was faster", async () => {
    const message =
      'Operation cannot be fulfilled on configmaps "m": the object has been modified; please apply your changes to the latest version and try again';
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Conflict", message, code: 409 };
    const { url } = await serve((_, response) => answer(response, 409, status));
    await configure({ server: url });
    await using client = await Client.connect({ kubeconfig: file, env: {} });
    expect(
      await words(() => client.patch(ConfigMap, "m", { metadata: { resourceVersion: "1" }, data: { a: "b" } })),
    ).toEqual({
      code: "LOTSE_CONFLICT",
      message,
      hint: "read the object again and repeat the change: update(fn) does both",
    });
  });

  it("that refuses to apply what belongs to another manager, or to create what exists", async () => {
    const message = 'Apply failed with 1 conflict: conflict with "kubectl": .data.a';
    const causes = [{ reason: "FieldManagerConflict", message: 'conflict with "kubectl"', field: ".data.a" }];
    const { url } = await serve(({ method }, response) =>
      method === "PATCH"
        ? answer(response, 409, { kind: "Status", reason: "Conflict", message, details: { causes } })
        : answer(response, 409, { kind: "Status", reason: "AlreadyExists", message: 'configmaps "m" already exists' }),
    );
    await configure({ server: url });
    await using client = await Client.connect({ kubeconfig: file, env: {} });
    const map = () => ConfigMap.gen({ name: "m", data: { a: "b" } });
    expect(await words(() => client.apply(map()))).toEqual({
      code: "LOTSE_CONFLICT",
      message,
      hint: "leave these fields to their managers, or take them over with `force: true`",
    });
    expect(await words(() => client.create(map()))).toEqual({
      code: "LOTSE_ALREADY_EXISTS",
      message: 'configmaps "m" already exists',
      hint: "choose another name, set generateName, or use apply()",
    });
  });
});
