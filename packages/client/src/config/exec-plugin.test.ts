import { describe, expect, it } from "vitest";
import { VirtualClock } from "../meta/index.ts";
import { AuthError } from "./errors.ts";
import { ExecPlugin, type RunProgram } from "./exec-plugin.ts";
import type { ExecConfig } from "./kubeconfig-parse.ts";

const config: ExecConfig = {
  apiVersion: "client.authentication.k8s.io/v1",
  command: "login-helper",
  args: ["--get"],
  interactiveMode: "Never",
};

const printing = (status: object, runs: unknown[] = []): RunProgram => {
  return async (command, args, { env }) => {
    runs.push({ command, args, env });
    return { exitCode: 0, stdout: JSON.stringify({ kind: "ExecCredential", status }), stderr: "" };
  };
};

function plugin(run: RunProgram, o: Partial<ExecConfig> = {}) {
  const clock = new VirtualClock();
  const cluster = { server: "https://main" };
  const made = new ExecPlugin({ ...config, ...o }, { cluster, folder: "/etc/kube", env: { HOME: "/h" }, clock, run });
  return { clock, made };
}

describe("an exec plugin", () => {
  it("is run once, however many ask at the same time, and again a minute before the expiry", async () => {
    const runs: unknown[] = [];
    const { made, clock } = plugin(
      printing({ token: "t", expirationTimestamp: new Date(new VirtualClock().now() + 600_000).toISOString() }, runs),
    );
    const all = await Promise.all([made.get(), made.get(), made.get()]);
    expect(all.map(({ token }) => token)).toEqual(["t", "t", "t"]);
    await clock.advance(539_999);
    await made.get();
    expect(runs).toHaveLength(1);
    await clock.advance(1);
    await made.get();
    expect(runs).toHaveLength(2);
  });

  it("is run again when its credential was refused, and holds for ever without an expiry", async () => {
    const runs: unknown[] = [];
    const { made, clock } = plugin(printing({ token: "t" }, runs));
    await made.get();
    await clock.advance(1e9);
    await made.get();
    expect(runs).toHaveLength(1);
    await Promise.all([made.renew(), made.renew()]);
    expect(runs).toHaveLength(2);
  });

  it("gives a certificate with its key", async () => {
    const { made } = plugin(printing({ clientCertificateData: "cert", clientKeyData: "key" }));
    expect(await made.get()).toMatchObject({ cert: "cert", key: "key", token: undefined });
  });

  it("is told the version that it speaks, and the cluster only when it asks for it", async () => {
    const runs: { env: Record<string, string>; command: string }[] = [];
    await plugin(printing({ token: "t" }, runs)).made.get();
    await plugin(printing({ token: "t" }, runs), { provideClusterInfo: true, command: "./bin/helper" }).made.get();
    const infos = runs.map(({ env }) => JSON.parse(env.KUBERNETES_EXEC_INFO ?? ""));
    expect(infos[0]).toEqual({ apiVersion: config.apiVersion, kind: "ExecCredential", spec: { interactive: false } });
    expect(infos[1].spec.cluster).toEqual({ server: "https://main" });
    expect(runs[0]?.env.HOME).toBe("/h");
    expect(runs.map(({ command }) => command)).toEqual(["login-helper", "/etc/kube/bin/helper"]);
  });

  it("that is not installed is reported with its install hint", async () => {
    const run: RunProgram = () => Promise.reject(Object.assign(new Error("spawn ENOENT"), { code: "ENOENT" }));
    const error = await plugin(run, { installHint: "npm install -g login-helper" })
      .made.get()
      .catch((reason) => reason);
    expect(error).toBeInstanceOf(AuthError);
    expect(error).toMatchObject({
      message: "the credential plugin login-helper is not installed",
      hint: "npm install -g login-helper",
    });
  });

  it("that fails is reported with what it said, and tried again at the next request", async () => {
    let ok = false;
    const run: RunProgram = async () =>
      ok
        ? { exitCode: 0, stdout: '{"status":{"token":"t"}}', stderr: "" }
        : { exitCode: 3, stdout: "", stderr: "please log in\n" };
    const { made } = plugin(run);
    await expect(made.get()).rejects.toThrow("the credential plugin login-helper failed (exit code 3): please log in");
    ok = true;
    expect((await made.get()).token).toBe("t");
  });

  it("that prints something else is reported", async () => {
    const run: RunProgram = async () => ({ exitCode: 0, stdout: "Welcome!", stderr: "" });
    await expect(plugin(run).made.get()).rejects.toThrow("did not print JSON");
    await expect(plugin(printing({})).made.get()).rejects.toThrow("neither a token nor a certificate");
  });

  it("of v1beta1 works, and of v1alpha1 is refused", async () => {
    const run = printing({ token: "t" });
    const { made } = plugin(run, { apiVersion: "client.authentication.k8s.io/v1beta1" });
    expect((await made.get()).token).toBe("t");
    expect(() => plugin(run, { apiVersion: "client.authentication.k8s.io/v1alpha1" })).toThrow(AuthError);
  });
});
