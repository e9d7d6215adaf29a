import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { dump, load } from "js-yaml";
import { beforeEach, describe, expect, it } from "vitest";
import { ConfigError } from "../meta/index.ts";
import { openAccess } from "./access.ts";
import { KubeConfig } from "./kubeconfig-editor.ts";
import type { Kubeconfig } from "./kubeconfig-parse.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lotse-kubeconfig-"));
  return () => rm(folder, { recursive: true, force: true });
});

const sample = () => ({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "dev",
  preferences: { colors: true },
  clusters: [
    { name: "dev", cluster: { server: "https://dev", "certificate-authority": "ca.pem", extensions: [{ name: "x" }] } },
    { name: "prod", cluster: { server: "https://prod" } },
  ],
  users: [{ name: "ann", user: { token: "t", "unknown-field": 7 } }],
  contexts: [
    { name: "dev", context: { cluster: "dev", user: "ann", namespace: "team-a" } },
    { name: "prod", context: { cluster: "prod", user: "ann" } },
  ],
});

async function write(name: string, content: object | string = sample()): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === "string" ? content : dump(content), { mode: 0o644 });
  return path;
}

const read = async (path: string) => load(await readFile(path, "utf8")) as Kubeconfig & Record<string, unknown>;

describe("a kubeconfig", () => {
  it("tells its contexts, clusters, users, and what is current", async () => {
    const config = await KubeConfig.load(await write("config"));
    expect([...config.contexts.keys()]).toEqual(["dev", "prod"]);
    expect(config.clusters.get("prod")).toEqual({ server: "https://prod" });
    expect(config.users.get("ann")?.token).toBe("t");
    expect(config.currentContext).toBe("dev");
    expect(config.namespace).toBe("team-a");
    expect(config.useContext("prod").namespace).toBe("default");
    expect(config.files).toEqual([join(folder, "config")]);
  });

  it("is what a program got only a copy of", async () => {
    const config = await KubeConfig.load(sample());
    const dev = config.contexts.get("dev");
    if (dev) dev.namespace = "changed";
    expect(config.namespace).toBe("team-a");
  });

  it("is saved with its new context and namespace, and with the fields that nobody here knows", async () => {
    const path = await write("config");
    const config = await KubeConfig.load(path);
    await config.useContext("prod").setNamespace("live").setNamespace(undefined, { context: "dev" }).save();
    const { contexts, ...rest } = await read(path);
    expect(contexts).toEqual([
      { name: "dev", context: { cluster: "dev", user: "ann" } },
      { name: "prod", context: { cluster: "prod", user: "ann", namespace: "live" } },
    ]);
    const { contexts: _, ...before } = sample();
    expect(rest).toEqual({ ...before, "current-context": "prod" });
  });

  it("is saved whole or not at all, for its owner only, and leaves nothing beside it", async () => {
    const path = await write("config");
    const config = await KubeConfig.load(path);
    await config.useContext("prod").save();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(["config"]);
    const { ino } = await stat(path);
    await config.useContext("dev").save();
    expect((await stat(path)).ino, "a new file took its place").not.toBe(ino);
    const { mtimeMs } = await stat(path);
    await config.save();
    expect((await stat(path)).mtimeMs, "nothing changed, nothing written").toBe(mtimeMs);
  });

  it("is not saved over the changes of somebody else, nor while another program writes", async () => {
    const path = await write("config");
    const config = await KubeConfig.load(path);
    config.useContext("prod");
    await writeFile(`${path}.lock`, "");
    await expect(config.save()).rejects.toThrow("another program is writing");
    await rm(`${path}.lock`);
    await writeFile(path, "contexts: []");
    await expect(config.save()).rejects.toThrow("changed by somebody else");
    expect(await readFile(path, "utf8")).toBe("contexts: []");
    expect(await readdir(folder)).toEqual(["config"]);
  });

  it("that is a link stays a link", async () => {
    const path = await write("real");
    const link = join(folder, "link");
    await symlink(path, link);
    await (await KubeConfig.load(link)).useContext("prod").save();
    expect((await read(path))["current-context"]).toBe("prod");
    expect((await readFile(link, "utf8")).length).toBeGreaterThan(0);
  });

  it("renames a context, and the current one stays current", async () => {
    const config = await KubeConfig.load(sample());
    config.renameContext("dev", "development");
    expect([...config.contexts.keys()]).toEqual(["development", "prod"]);
    expect(config.currentContext).toBe("development");
    expect(() => config.renameContext("development", "prod")).toThrow('there is a context "prod" already');
    expect(() => config.renameContext("gone", "x")).toThrow('there is no context "gone"');
  });

  it("adds and changes clusters, users and contexts, and connects with them", async () => {
    const path = join(folder, "new", "config");
    const config = await KubeConfig.load(path, { create: true });
    config.upsert({
      cluster: { name: "local", server: "https://127.0.0.1:6443" },
      user: { name: "admin", token: "secret" },
      context: { name: "local", namespace: "demo" },
    });
    await config.useContext("local").save();
    expect(await read(path)).toEqual({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "local",
      clusters: [{ name: "local", cluster: { server: "https://127.0.0.1:6443" } }],
      users: [{ name: "admin", user: { token: "secret" } }],
      contexts: [{ name: "local", context: { cluster: "local", user: "admin", namespace: "demo" } }],
    });
    const access = await openAccess({ kubeconfig: path, env: {} });
    expect(access).toMatchObject({ server: "https://127.0.0.1:6443", namespace: "demo", context: "local" });
    config.upsert({ user: { name: "admin", tokenFile: "/run/token" }, context: { name: "local", namespace: null } });
    expect(config.users.get("admin"), "a token file would be ignored beside a token").toEqual({
      tokenFile: "/run/token",
    });
    expect(config.contexts.get("local")).toEqual({ cluster: "local", user: "admin" });
  });

  it("keeps what an upsert does not name", async () => {
    const config = await KubeConfig.load(sample());
    config.upsert({ cluster: { name: "dev", server: "https://moved" } });
    expect(config.clusters.get("dev")).toEqual({ ...sample().clusters[0]?.cluster, server: "https://moved" });
  });

  it("removes by name, leaves current-context, and knows what it does not have", async () => {
    const config = await KubeConfig.load(sample());
    config.remove({ context: "dev", cluster: "dev" });
    expect([...config.contexts.keys()]).toEqual(["prod"]);
    expect([...config.clusters.keys()]).toEqual(["prod"]);
    expect(config.currentContext).toBe("dev");
    const error = attempt(() => config.remove({ user: "bob" }));
    expect(error.message).toBe('there is no user "bob" in the given kubeconfig');
    expect(error.hint).toBe("the users are: ann");
  });

  it("is read and changed by pointers, with names or positions, and read by JSONPath", async () => {
    const config = await KubeConfig.load(sample());
    expect(config.get("/contexts/dev/context/namespace")).toBe("team-a");
    expect(config.get("/contexts/1/name")).toBe("prod");
    expect(config.get("/nothing/there")).toBeUndefined();
    expect(config.get("{.contexts[*].name}")).toEqual(["dev", "prod"]);
    config.set("/contexts/prod/context/namespace", "live").set("/preferences/editor/name", "vi");
    expect(config.get("/contexts/1/context/namespace")).toBe("live");
    expect(config.get("/preferences")).toEqual({ colors: true, editor: { name: "vi" } });
    config.set("/clusters/-", { name: "third", cluster: { server: "https://third" } });
    expect([...config.clusters.keys()]).toEqual(["dev", "prod", "third"]);
    config.unset("/contexts/dev/context/namespace").unset("/preferences").unset("/clusters/third").unset("/not/there");
    expect(config.namespace).toBe("default");
    expect(config.get("/preferences")).toBeUndefined();
    expect(config.clusters.has("third")).toBe(false);
    config.unset("/current-context");
    expect(config.currentContext).toBeUndefined();
  });

  it("refuses changes that would leave no kubeconfig, and stays as it was", async () => {
    const config = await KubeConfig.load(sample());
    for (const [pointer, value] of [
      ["/contexts", "none"],
      ["/contexts/-", { context: {} }],
      ["/users/ann/user", "token"],
      ["contexts", []],
      ["", {}],
      ["/contexts/bob/context/namespace", "x"],
      ["/contexts/dev/context/namespace/deeper", "x"],
    ] as const) {
      expect(
        attempt(() => config.set(pointer, value)),
        pointer,
      ).toBeInstanceOf(ConfigError);
    }
    config.set("/__proto__/polluted", true);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(config.contexts.size).toBe(2);
  });

  it("says that it has no current context, or came from no file", async () => {
    const { "current-context": _, ...rest } = sample();
    const config = await KubeConfig.load(rest);
    expect(attempt(() => config.setNamespace("x")).hint).toContain("useContext");
    config.useContext("dev");
    await expect(config.save()).rejects.toMatchObject({ hint: expect.stringContaining("save(path)") });
    await config.save(join(folder, "copy"));
    expect((await read(join(folder, "copy")))["current-context"]).toBe("dev");
    expect(load(await config.toYAML())).toMatchObject({ "current-context": "dev", kind: "Config" });
  });

  it("that is not there is an error when it was named, and empty when it was not", async () => {
    await expect(KubeConfig.load(join(folder, "none"))).rejects.toThrow("there is no kubeconfig at");
    const config = await KubeConfig.load(undefined, { env: { HOME: folder } });
    expect(config.contexts.size).toBe(0);
    await config.upsert({ context: { name: "first", cluster: "c" } }).save();
    expect((await read(join(folder, ".kube", "config"))).contexts).toHaveLength(1);
    expect((await stat(join(folder, ".kube"))).mode & 0o777).toBe(0o700);
  });

  it("writes texts so that they stay texts", async () => {
    const path = await write("config", "users:\n- name: ann\n  user: { token: '0123', note: 2026-01-01 }\n");
    await (await KubeConfig.load(path)).upsert({ context: { name: "yes", user: "ann" } }).save();
    expect(await read(path)).toMatchObject({
      users: [{ user: { token: "0123", note: "2026-01-01" } }],
      contexts: [{ name: "yes" }],
    });
  });

  it("is saved one time after another when it is saved twice at once", async () => {
    const path = await write("config");
    const config = await KubeConfig.load(path);
    const first = config.useContext("prod").save();
    const second = config.setNamespace("live").save();
    await Promise.all([first, second]);
    expect(await read(path)).toMatchObject({
      "current-context": "prod",
      contexts: [{}, { context: { namespace: "live" } }],
    });
  });
});

describe("a kubeconfig of several files", () => {
  async function two() {
    await mkdir(join(folder, "sub"));
    const first = await write("first", { users: [{ name: "ann", user: { token: "first" } }], preferences: {} });
    const second = await write("sub/second", { ...sample(), preferences: undefined });
    const config = await KubeConfig.load(undefined, {
      env: { KUBECONFIG: [join(folder, "missing"), first, second].join(delimiter) },
    });
    return { first, second, config };
  }

  it("is their merge: the first to set a value wins, and paths are absolute", async () => {
    const { config } = await two();
    expect(config.users.get("ann")?.token).toBe("first");
    expect(config.currentContext).toBe("dev");
    expect(config.clusters.get("dev")?.["certificate-authority"]).toBe(join(folder, "sub", "ca.pem"));
    expect(load(await config.toYAML())).toMatchObject({
      clusters: [{ cluster: { "certificate-authority": join(folder, "sub", "ca.pem") } }, {}],
    });
  });

  it("is changed where the thing is defined; current-context and new things go to the first file", async () => {
    const { first, second, config } = await two();
    config
      .setNamespace("team-b")
      .upsert({ user: { name: "ann", token: "newer" }, cluster: { name: "third", server: "s" } });
    config.set("/clusters/dev/cluster/server", "https://moved").useContext("prod");
    await config.save();
    expect(await read(first)).toMatchObject({
      "current-context": "prod",
      users: [{ name: "ann", user: { token: "newer" } }],
      clusters: [{ name: "third" }],
    });
    const later = await read(second);
    expect(later["current-context"]).toBe("dev");
    expect(later.users).toEqual(sample().users);
    expect(later.contexts?.[0]?.context.namespace).toBe("team-b");
    expect(later.clusters?.[0]?.cluster).toMatchObject({ server: "https://moved", "certificate-authority": "ca.pem" });
  });

  it("loses a thing in every file that has it", async () => {
    const { first, second, config } = await two();
    await config.remove({ user: "ann" }).save();
    expect((await read(first)).users).toEqual([]);
    expect((await read(second)).users).toEqual([]);
  });

  it("leaves a file alone in which nothing has changed", async () => {
    const { first, config } = await two();
    const before = await stat(first);
    await config.setNamespace("x").save();
    expect((await stat(first)).mtimeMs).toBe(before.mtimeMs);
  });
});

function attempt(fn: () => unknown): ConfigError {
  try {
    fn();
  } catch (error) {
    return error as ConfigError;
  }
  throw new Error("it did not fail");
}
