/** The cluster of `lotse dev` and `lotse cluster` in real processes: kept in a folder, and with roles that count. */
import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { Client, ClusterRole, ConfigMap, ForbiddenError } from "lotse/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Project } from "./project.ts";

/** One handler says in its code what it asks for, the other one only when it runs. */
const OPERATOR = `
import { Operator, resource } from "lotse";
import { ConfigMap, type KindClass, Secret } from "lotse/client";
import { z } from "zod";

export const Parcel = resource({ group: "p.example.com", version: "v1", kind: "Parcel", spec: z.object({ to: z.string() }) });
const operator = new Operator({ name: "parcels" });
const kinds = new Map<string, KindClass>([["secret", Secret]]);

operator.on.create(Parcel, async function send({ client, name, logger }) {
  logger.info("sent by " + (await client.whoami()).username);
  await client.create(ConfigMap.gen({ name }));
});
operator.on.create(Parcel, { backoff: "100ms" }, async function open({ client, spec }) {
  const kind = kinds.get(spec.to);
  if (kind) await client.list(kind).first();
});
export default operator;
`;

let project: Project;
let recording: string;

beforeAll(() => {
  project = new Project();
  project.writeSettings();
  project.write("operator.ts", OPERATOR);
  recording = path.join(project.folder, "operator.requests.jsonl");
}, 300_000);

afterAll(() => project.remove());

const dev = (...more: string[]) =>
  project.begin(["dev", "operator.ts", "--no-console", "--kubelet", "off", "--kubeconfig", "dev.yaml", ...more]);
const admin = () => Client.connect({ kubeconfig: path.join(project.folder, "dev.yaml") });
const parcel = (name: string, to: string) => {
  return { apiVersion: "p.example.com/v1", kind: "Parcel", metadata: { name }, spec: { to } };
};

describe("lotse dev --rbac", { timeout: 300_000 }, () => {
  it("runs the operator with the token of its service account, and with the role that generate makes", async () => {
    const running = dev("--rbac");
    await running.says("the operator is ready");
    expect(running.out()).toContain("rights    the operator has those of `lotse generate deploy`, you have all\n");
    expect(running.err()).toMatch(
      /WARN {2}nobody knows what handler open \(\S+:14\) asks the cluster for: operator\.ts:16/,
    );
    const client = await admin();
    await client.create(parcel("one", "nobody"));
    await running.says("sent by system:serviceaccount:default:parcels");
    await running.says(/\[default\/one\] handler succeeded handler=send/);
    expect((await client.get(ConfigMap, "one")).name).toBe("one");
    const { rules = [] } = (await client.get(ClusterRole, "parcels")).body;
    expect(rules).toContainEqual({ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] });
    expect(JSON.stringify(rules)).not.toContain("secrets");
    // Nothing is said of what the framework may not see, and does without.
    expect(running.err()).not.toContain("does not allow");
    await client.close();
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(0);
  });

  it("tells which rule a handler lacks and whether generate includes it, and has it after the next start", async () => {
    rmSync(recording, { force: true });
    const running = dev("--rbac");
    await running.says("the operator is ready");
    const client = await admin();
    await client.create(parcel("two", "secret"));
    await running.says("the operator's role does not allow what it asks for");
    const [line = ""] = running
      .err()
      .split("\n")
      .filter((one) => one.includes("does not allow"));
    expect(line).toMatch(
      /handler=open .*missing="list secrets in default" rule="\{ apiGroups: \[''\], resources: \[secrets\], verbs: \[list\] \}" generate="lotse generate rbac includes it from now on: it was recorded just now" hint="save the file to go on with the new role"$/,
    );
    await running.says(/handler failed, will be tried again handler=open .*attempt=2/);
    // However often it is refused: it is told once.
    expect(running.err().split("does not allow what it asks for")).toHaveLength(2);
    project.write("operator.ts", `${OPERATOR}\n`);
    await running.says(/\[default\/two\] handler succeeded handler=open/);
    await client.close();
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(0);
  });
});

describe("lotse dev --data", { timeout: 300_000 }, () => {
  it("keeps the cluster in a folder: the next session goes on with it, and does nothing twice", async () => {
    const first = dev("--data", "kept");
    await first.says("the operator is ready");
    expect(first.out()).toContain(`data      stays in ${path.join(project.folder, "kept")}\n`);
    const client = await admin();
    await client.create(parcel("three", "nobody"));
    await first.says(/\[default\/three\] all handlers are done/);
    await client.close();
    first.child.kill("SIGTERM");
    expect(await first.ended).toBe(0);
    const second = dev("--data", "kept");
    await second.says("the operator is ready");
    const again = await admin();
    expect((await again.get(ConfigMap, "three")).name).toBe("three");
    await again.create(parcel("four", "nobody"));
    await second.says(/\[default\/four\] all handlers are done/);
    expect(second.err()).not.toContain("default/three");
    await again.close();
    second.child.kill("SIGTERM");
    expect(await second.ended).toBe(0);
  });

  it.each(["--data", "--rbac"])("%s is about the embedded cluster, and does not go with --real", async (flag) => {
    const { code, err } = await project.lotse([
      "dev",
      "operator.ts",
      "--real",
      flag,
      ...(flag === "--data" ? ["x"] : []),
    ]);
    expect({ code, err }).toEqual({
      code: 2,
      err: `Error: --real and ${flag} exclude each other\nWhy:   ${flag} is about the embedded cluster\nDo:    leave one of them out\n`,
    });
    expect(existsSync(path.join(project.folder, "x"))).toBe(false);
  });
});

describe("lotse cluster --rbac", { timeout: 300_000 }, () => {
  it("lets roles decide: a service account may do nothing that nobody gave it", async () => {
    const running = project.begin(["cluster", "--rbac", "--kubelet", "off", "--kubeconfig", "roles.yaml"]);
    await running.says("KUBECONFIG=");
    expect(running.out()).toContain("rights  roles decide (RBAC); this kubeconfig is the administrator's\n");
    const client = await Client.connect({ kubeconfig: path.join(project.folder, "roles.yaml") });
    const account = client.as({ user: "system:serviceaccount:default:default" });
    await expect(account.list(ConfigMap).toArray()).rejects.toThrow(ForbiddenError);
    expect(await client.list(ConfigMap).toArray()).toBeInstanceOf(Array);
    await client.close();
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(0);
  });
});
