import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { dump } from "js-yaml";
import { beforeEach, describe, expect, it } from "vitest";
import { ConfigError, VirtualClock } from "../meta/index.ts";
import { openAccess } from "./access.ts";
import type { AccessOptions } from "./contract.ts";
import { AuthError } from "./errors.ts";
import type { Kubeconfig, KubeconfigCluster, KubeconfigUser } from "./kubeconfig-parse.ts";

const PEM = "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n";
const base64 = (text: string) => Buffer.from(text).toString("base64");

let folder: string;
let clock: VirtualClock;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lotse-config-"));
  clock = new VirtualClock();
  return () => rm(folder, { recursive: true, force: true });
});

/** A kubeconfig of one context. */
function kubeconfig(cluster: KubeconfigCluster = {}, user: KubeconfigUser = {}, namespace?: string): Kubeconfig {
  return {
    "current-context": "main",
    clusters: [{ name: "c", cluster: { server: "https://main:6443", ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "main", context: { cluster: "c", user: "u", ...(namespace ? { namespace } : {}) } }],
  };
}

async function write(name: string, content: Kubeconfig | string): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, typeof content === "string" ? content : dump(content));
  return path;
}

/** No process environment, no home: a test sees only what it brings. */
const open = (o: AccessOptions = {}) => openAccess({ env: { HOME: folder }, clock, ...o });

const identityOf = async (o: AccessOptions) => (await open(o)).credentials.current();

describe("the kubeconfig", () => {
  it("of an embedded cluster without TLS is used without showing its token in the address", async () => {
    const server = "http://127.0.0.1:8080";
    const both = kubeconfig({ server: `${server}/~abc` }, { token: "abc" });
    expect((await open({ kubeconfig: both })).server).toBe(server);
    expect(await identityOf({ kubeconfig: both })).toMatchObject({ token: "abc" });
    const other = kubeconfig({ server: `${server}/~abc` }, { token: "def" });
    expect((await open({ kubeconfig: other })).server).toBe(`${server}/~abc`);
  });

  it("is read from a path, a URL, a text and an object", async () => {
    const config = kubeconfig({}, {}, "team-a");
    const path = await write("some.yaml", config);
    for (const source of [
      path,
      pathToFileURL(path),
      { text: dump(config) },
      { text: JSON.stringify(config) },
      // In braces, and yet no JSON.
      { text: JSON.stringify(config).replace("{", "{ # written by hand\n") },
      config,
    ]) {
      expect(await open({ kubeconfig: source })).toMatchObject({
        server: "https://main:6443",
        context: "main",
        namespace: "team-a",
        source: "kubeconfig",
      });
    }
  });

  it("is found at ~/.kube/config, and at $KUBECONFIG before that", async () => {
    await write(".kube/config", kubeconfig({ server: "https://home" }));
    expect((await open()).server).toBe("https://home");
    const path = await write("other", kubeconfig({ server: "https://env" }));
    expect((await open({ env: { HOME: folder, KUBECONFIG: path } })).server).toBe("https://env");
  });

  it("is merged as kubectl does: the first to set a value wins, and missing files are skipped", async () => {
    const first = await write("1", {
      clusters: [{ name: "c", cluster: { server: "https://first" } }],
      users: [],
      contexts: null,
    });
    const second = await write("2", {
      "current-context": "b",
      clusters: [{ name: "c", cluster: { server: "https://second" } }],
      users: [{ name: "u", user: { token: "from-second" } }],
      contexts: [
        { name: "a", context: { cluster: "c", user: "u" } },
        { name: "b", context: { cluster: "c", user: "u", namespace: "from-b" } },
      ],
    });
    const third = await write("3", { "current-context": "a", users: [{ name: "u", user: { token: "from-third" } }] });
    const env = { KUBECONFIG: [first, join(folder, "missing"), "", second, third].join(delimiter) };
    const access = await open({ env });
    expect(access).toMatchObject({ server: "https://first", context: "b", namespace: "from-b" });
    expect((await access.credentials.current()).token).toBe("from-second");
    expect((await open({ kubeconfig: [second, first] })).server).toBe("https://second");
    const list = [join(folder, "missing"), second, first];
    expect((await open({ kubeconfig: list.join(delimiter) })).server).toBe("https://second");
    expect((await open({ kubeconfig: list })).server).toBe("https://second");
  });

  it("uses the context that was asked for", async () => {
    const config = kubeconfig();
    config.contexts?.push({ name: "other", context: { cluster: "c", namespace: "elsewhere" } });
    expect(await open({ kubeconfig: config, context: "other" })).toMatchObject({
      context: "other",
      namespace: "elsewhere",
    });
    expect(await open({ kubeconfig: config, context: "other", namespace: "mine" })).toMatchObject({
      namespace: "mine",
    });
  });

  it("takes the first context when none is current, and says so", async () => {
    const warnings: string[] = [];
    const { "current-context": _, ...config } = kubeconfig();
    expect((await open({ kubeconfig: config, onWarning: (text) => warnings.push(text) })).context).toBe("main");
    expect(warnings).toEqual([expect.stringContaining('the first one, "main"')]);
  });

  it("takes certificates inline: base64, base64 with line breaks, and PEM as it is", async () => {
    for (const data of [base64(PEM), base64(PEM).replace(/(.{10})/g, "$1\n"), PEM]) {
      const user = { "client-certificate-data": data, "client-key-data": data };
      const { tls } = await identityOf({ kubeconfig: kubeconfig({ "certificate-authority-data": data }, user) });
      expect(tls).toMatchObject({ ca: PEM, cert: PEM, key: PEM, rejectUnauthorized: true });
    }
  });

  it("takes certificates from files, relative to the kubeconfig, and reads them again when they change", async () => {
    await write("sub/ca.pem", "ca 1");
    await write("sub/client.pem", "cert");
    await write("sub/client.key", "key");
    const path = await write(
      "sub/config",
      kubeconfig(
        { "certificate-authority": "ca.pem" },
        { "client-certificate": "client.pem", "client-key": "client.key" },
      ),
    );
    const { credentials } = await open({ kubeconfig: path });
    const before = await credentials.current();
    expect(String(before.tls.ca)).toBe("ca 1");
    expect(String(before.tls.cert)).toBe("cert");
    expect(String(before.tls.key)).toBe("key");
    await clock.advance(60_000);
    expect(await credentials.current()).toBe(before);
    await write("sub/ca.pem", "ca 2");
    await clock.advance(60_000);
    expect(String((await credentials.current()).tls.ca)).toBe("ca 2");
  });

  it("takes a token, and from a tokenFile again after a minute, or at once when it was refused", async () => {
    expect((await identityOf({ kubeconfig: kubeconfig({}, { token: "static" }) })).token).toBe("static");
    const tokenFile = await write("token", "one\n");
    const { credentials } = await open({ kubeconfig: kubeconfig({}, { tokenFile, token: "stale copy" }) });
    const one = await credentials.current();
    expect(one.token).toBe("one");
    await writeFile(tokenFile, "two");
    expect(await credentials.current()).toBe(one);
    await clock.advance(60_000);
    const two = await credentials.current();
    expect(two.token).toBe("two");
    await writeFile(tokenFile, "three");
    expect(await credentials.renew(two)).toBe(true);
    expect((await credentials.current()).token).toBe("three");
    expect(await credentials.renew(two), "a late 401 about the old token").toBe(true);
  });

  it("has nothing to renew when the token is written down", async () => {
    const { credentials } = await open({ kubeconfig: kubeconfig({}, { token: "static" }) });
    expect(await credentials.renew(await credentials.current())).toBe(false);
  });

  it("knows tls-server-name, insecure-skip-tls-verify and impersonation", async () => {
    const warnings: string[] = [];
    const user = { as: "jane", "as-uid": "7", "as-groups": ["a", "b"], "as-user-extra": { "Some/Key": ["x"] } };
    const cluster = { "tls-server-name": "kubernetes", "insecure-skip-tls-verify": true };
    const access = await open({ kubeconfig: kubeconfig(cluster, user), onWarning: (text) => warnings.push(text) });
    expect((await access.credentials.current()).tls).toMatchObject({
      servername: "kubernetes",
      rejectUnauthorized: false,
    });
    expect(access.headers).toEqual({
      "impersonate-user": "jane",
      "impersonate-uid": "7",
      "impersonate-group": ["a", "b"],
      "impersonate-extra-some%2fkey": ["x"],
    });
    expect(warnings).toEqual([expect.stringContaining("is not verified")]);
    const plain = { ...cluster, server: "http://127.0.0.1:8001" };
    await open({ kubeconfig: kubeconfig(plain, user), onWarning: (text) => warnings.push(text) });
    expect(warnings).toHaveLength(1);
  });

  it("may name a proxy, but none that the client cannot use", async () => {
    for (const proxy of ["http://proxy:3128", "https://proxy", "socks5://proxy:1080", "socks5h://u:p@proxy"]) {
      expect((await open({ kubeconfig: kubeconfig({ "proxy-url": proxy }) })).proxyUrl).toBe(proxy);
    }
    for (const proxy of ["ftp://jane:secret@proxy", "proxy:3128", "http://"]) {
      const error = await open({ kubeconfig: kubeconfig({ "proxy-url": proxy }) }).catch((reason) => reason);
      expect(error).toBeInstanceOf(ConfigError);
      expect(error.message).toContain('of the cluster "c"');
      expect(error.message).not.toContain("secret");
    }
  });

  it("yields to what the caller passes", async () => {
    const access = await open({
      kubeconfig: kubeconfig({}, { token: "a" }),
      url: "https://other/",
      token: "b",
      ca: PEM,
    });
    expect(access).toMatchObject({ server: "https://other", context: "main" });
    expect(await access.credentials.current()).toMatchObject({ token: "b", tls: { ca: PEM } });
  });
});

describe("the namespace", () => {
  const account = async () => {
    await write("sa/token", "t");
    await write("sa/namespace", "of-the-account");
    return join(folder, "sa");
  };

  it.each<[string, () => AccessOptions | Promise<AccessOptions>, string]>([
    ["the one that is passed", () => ({ kubeconfig: kubeconfig({}, {}, "of-the-context"), namespace: "mine" }), "mine"],
    ["the one of the context", () => ({ kubeconfig: kubeconfig({}, {}, "of-the-context") }), "of-the-context"],
    ["default where the context has none", () => ({ kubeconfig: kubeconfig() }), "default"],
    ["the one of the service account", async () => ({ serviceAccount: await account() }), "of-the-account"],
    [
      "the one that is passed, in a pod too",
      async () => ({ serviceAccount: await account(), namespace: "mine" }),
      "mine",
    ],
    ["the one that is passed with a url", () => ({ url: "https://x", namespace: "mine" }), "mine"],
    ["default with a url alone", () => ({ url: "https://x" }), "default"],
    [
      "the one of the login",
      () => ({ login: () => ({ server: "https://x", namespace: "of-the-login" }) }),
      "of-the-login",
    ],
  ])("is %s", async (_, options, namespace) => {
    expect((await open(await options())).namespace).toBe(namespace);
  });
});

describe("a url alone", () => {
  it("is never given the credentials of a kubeconfig", async () => {
    await write(".kube/config", kubeconfig({}, { token: "secret" }));
    const access = await open({ url: "https://elsewhere:6443/", insecureSkipTlsVerify: true });
    expect(access).toMatchObject({ server: "https://elsewhere:6443", namespace: "default", source: "url" });
    expect(await access.credentials.current()).toEqual({ tls: { rejectUnauthorized: false } });
  });
});

describe("in a pod", () => {
  async function serviceAccount() {
    await write("sa/token", "pod-token");
    await write("sa/ca.crt", PEM);
    await write("sa/namespace", "team-b\n");
    return join(folder, "sa");
  }

  it("uses the service account and the server's environment variables", async () => {
    const env = { HOME: folder, KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "6443" };
    const access = await open({ serviceAccount: await serviceAccount(), env });
    expect(access).toMatchObject({ server: "https://10.0.0.1:6443", namespace: "team-b", source: "in-cluster" });
    const { token, tls } = await access.credentials.current();
    expect(token).toBe("pod-token");
    expect(String(tls.ca)).toBe(PEM);
  });

  it("reads the token again", async () => {
    const { credentials } = await open({ serviceAccount: await serviceAccount() });
    expect((await credentials.current()).token).toBe("pod-token");
    await write("sa/token", "rotated");
    await clock.advance(60_000);
    expect((await credentials.current()).token).toBe("rotated");
  });

  it("brackets an IPv6 host, and knows the server's name without any variable", async () => {
    const account = await serviceAccount();
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
    expect((await open({ serviceAccount: account, env })).server).toBe("https://[fd00::1]:443");
    expect((await open({ serviceAccount: account, env: {} })).server).toBe("https://kubernetes.default.svc:443");
  });

  it("serves a context without a cluster, which keeps its namespace", async () => {
    const config: Kubeconfig = {
      "current-context": "pod",
      contexts: [{ name: "pod", context: { namespace: "kept" } }],
    };
    const access = await open({ kubeconfig: config, serviceAccount: await serviceAccount() });
    expect(access).toMatchObject({ source: "in-cluster", context: "pod", namespace: "kept" });
  });
});

describe("a configuration that is wrong", () => {
  const failing = async (o: AccessOptions) => {
    const error = await open(o).catch((reason) => reason);
    expect(error).toBeInstanceOf(Error);
    return error as ConfigError;
  };

  it("says that a file is missing, with its path", async () => {
    const error = await failing({ kubeconfig: join(folder, "none") });
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toBe(`there is no kubeconfig at ${join(folder, "none")}`);
  });

  it("says that a folder, a broken YAML or another file is no kubeconfig", async () => {
    expect((await failing({ kubeconfig: folder })).message).toContain("it is a folder");
    const broken = await write("broken", "users:\n- name: ann\n  user: { token: secret\n");
    const { message } = await failing({ kubeconfig: broken });
    expect(message).toMatch(/broken is not valid YAML in line \d+, column \d+: /);
    expect(message, "the lines of a kubeconfig hold secrets").not.toContain("secret");
    const other = await write("other", "clusters: { a: 1 }");
    expect((await failing({ kubeconfig: other })).message).toContain("is not a kubeconfig");
  });

  it("says that a file is empty or has no contexts, with its path and what to do", async () => {
    for (const text of ["", "\n", "# nothing yet\n", "---\n"]) {
      const error = await failing({ kubeconfig: await write("empty", text) });
      expect(error.message).toBe(`${join(folder, "empty")} is empty`);
      expect(error.hint).toContain("$KUBECONFIG");
    }
    const bare = await write("bare", { "current-context": "gone", clusters: [], contexts: [], users: null });
    expect((await failing({ kubeconfig: bare })).message).toBe(`${bare} has no contexts`);
  });

  it("says which entry has no name or no fields", async () => {
    const said = async (text: string) => (await failing({ kubeconfig: { text } })).message;
    expect(await said("contexts: [null]")).toBe("contexts[0] in the given text has no name");
    expect(await said("clusters: [{ name: 7 }]")).toBe("clusters[0] in the given text has no name");
    expect(await said("users: [{ name: ann, user: token }]")).toBe('the user "ann" in the given text has no fields');
    expect(await said("current-context: 7")).toContain("current-context");
  });

  it("says that none of several files is there, and that only files can be read", async () => {
    const error = await failing({ kubeconfig: [join(folder, "a"), join(folder, "b")] });
    expect(error.message).toBe(`there is no kubeconfig at ${join(folder, "a")}, nor at ${join(folder, "b")}`);
    expect((await failing({ kubeconfig: new URL("https://example.com/config") })).message).toContain("https:");
  });

  it("says that half of a client certificate is missing", async () => {
    const error = await failing({ kubeconfig: kubeconfig({}, { "client-key-data": base64(PEM) }) });
    expect(error).toBeInstanceOf(AuthError);
    expect(error.message).toContain('client-key of the user "u"');
    expect(error.message).toContain("no client-certificate");
  });

  it("says that groups are impersonated without a user", async () => {
    expect((await failing({ kubeconfig: kubeconfig({}, { "as-groups": ["admins"] }) })).message).toContain("no user");
  });

  it("says that a token cannot be sent", async () => {
    const { credentials } = await open({ kubeconfig: kubeconfig({}, { token: "two\nlines" }) });
    await expect(credentials.current()).rejects.toThrow("the token has a line break");
  });

  it("lists the contexts when the one asked for is unknown", async () => {
    const error = await failing({ kubeconfig: kubeconfig(), context: "typo" });
    expect(error.message).toBe('there is no context "typo" in the given kubeconfig');
    expect(error.hint).toBe("the contexts are: main");
  });

  it("names a cluster or user that is missing", async () => {
    const config = kubeconfig();
    expect((await failing({ kubeconfig: { ...config, clusters: [] } })).message).toContain('names the cluster "c"');
    expect((await failing({ kubeconfig: { ...config, users: null } })).message).toContain('names the user "u"');
  });

  it("says where it looked and what to do when there is nothing at all", async () => {
    const error = await failing({ env: { HOME: folder } });
    expect(error.message).toContain(join(folder, ".kube", "config"));
    expect(error.message).toContain("/var/run/secrets/kubernetes.io/serviceaccount");
    expect(error.hint).toContain("$KUBECONFIG");
    const env = { HOME: folder, KUBECONFIG: join(folder, "nowhere") };
    expect((await failing({ env })).message).toContain(`${join(folder, "nowhere")} ($KUBECONFIG)`);
  });

  it("refuses what Kubernetes has dropped, and names the replacement", async () => {
    const basic = await failing({ kubeconfig: kubeconfig({}, { username: "a", password: "b" }) });
    expect(basic).toBeInstanceOf(AuthError);
    const provider = await failing({ kubeconfig: kubeconfig({}, { "auth-provider": { name: "gcp" } }) });
    expect(provider.hint).toContain("gke-gcloud-auth-plugin");
  });

  it("says which certificate file cannot be read, when it is needed", async () => {
    const { credentials } = await open({ kubeconfig: kubeconfig({ "certificate-authority": join(folder, "no.pem") }) });
    await expect(credentials.current()).rejects.toMatchObject({
      message: `cannot read the certificate authority ${join(folder, "no.pem")}: there is no such file`,
      hint: 'check certificate-authority of the cluster "c" in the given kubeconfig, and the file\'s permissions',
    });
  });
});

describe("an exec plugin of a kubeconfig", () => {
  it("runs as a program, with its arguments and environment", async () => {
    const script = `
      const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
      const token = [process.argv[2], process.env.FLAVOUR, info.spec.cluster.server].join("|");
      console.log(JSON.stringify({ status: { token } }));`;
    await write("plugin.cjs", script);
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: process.execPath,
      args: [join(folder, "plugin.cjs"), "word"],
      env: [{ name: "FLAVOUR", value: "sweet" }],
      provideClusterInfo: true,
      interactiveMode: "Never" as const,
    };
    const { credentials } = await open({ kubeconfig: kubeconfig({}, { exec }), env: { PATH: process.env.PATH } });
    expect((await credentials.current()).token).toBe("word|sweet|https://main:6443");
  });
});
