import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { run } from "../run.ts";
import { useHelm } from "./helm-session.ts";
import { helmVersions, kubectlPath } from "./kubectl.ts";

const chart = fileURLToPath(new URL("./chart", import.meta.url));

describe.each(helmVersions())("Helm %s", (version) => {
  const { env, helm, ok } = useHelm(version, (cluster) => {
    cluster.pods.program({ image: "migrate:1" }, { exit: { code: 0 } });
    cluster.pods.program({ image: "app:broken" }, { pullError: "ImagePullBackOff" });
  });

  /** A value of objects in the cluster, in the release's namespace. */
  async function seen(namespace: string, what: string, jsonpath: string): Promise<string> {
    const args = ["get", ...what.split(" "), "-n", namespace, "--ignore-not-found", "-o", `jsonpath=${jsonpath}`];
    const { exitCode, stdout, stderr } = await run(kubectlPath(), args, { env: env() });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    return stdout;
  }

  const install = (name: string, more = "") =>
    ok(`install ${name} ${chart} --namespace ${name} --create-namespace --wait --timeout 60s${more}`);

  it("installs a chart with a definition, a Deployment and a hook, and waits for all of it", async () => {
    expect(await install("first")).toMatch(/STATUS: deployed\nREVISION: 1\n[\s\S]*first watches rates of EUR\./);
    expect(await seen("first", "deployment first", "{.status.availableReplicas}")).toBe("2");
    expect(await seen("first", "exchangerate first", "{.spec.currency}")).toBe("EUR");
    expect(await seen("first", "job first-migrate-1", "{.status.succeeded}")).toBe("1");
    expect(await seen("first", "secrets", "{.items[*].type}")).toBe("helm.sh/release.v1");
    expect(await ok("list -n first")).toMatch(/^first\s+first\s+1\s.*\sdeployed\s+rates-0\.1\.0\s+1\s*$/m);
    expect(await ok("status first -n first")).toMatch(/STATUS: deployed/);
    expect(await ok("get manifest first -n first")).toContain("kind: ExchangeRate");
    expect(await ok("test first -n first --timeout 60s")).toMatch(
      /TEST SUITE:\s+first-test\n[\s\S]*Phase:\s+Succeeded/,
    );
  });

  it("upgrades it, rolls it back, and uninstalls it", async () => {
    await install("second");
    const upgraded = await ok(
      `upgrade second ${chart} -n second --set image=app:2,replicas=3,currency=USD --wait --timeout 60s`,
    );
    expect(upgraded).toMatch(/STATUS: deployed\nREVISION: 2\n/);
    expect(
      await seen("second", "deployment second", "{.status.updatedReplicas}/{.spec.template.spec.containers[0].image}"),
    ).toBe("3/app:2");
    expect(await seen("second", "exchangerate second", "{.spec.currency}")).toBe("USD");
    expect(await seen("second", "job second-migrate-2", "{.status.succeeded}")).toBe("1");
    expect(await ok("get values second -n second -o json")).toContain('"app:2"');

    expect(await ok("rollback second 1 -n second --wait --timeout 60s")).toContain("Rollback was a success");
    expect(
      await seen("second", "deployment second", "{.spec.replicas}/{.spec.template.spec.containers[0].image}"),
    ).toBe("2/app:1");
    expect(await seen("second", "exchangerate second", "{.spec.currency}")).toBe("EUR");
    const history = await ok("history second -n second");
    expect(history).toMatch(/^1\s.*superseded[\s\S]*^2\s.*superseded[\s\S]*^3\s.*deployed.*Rollback to 1/m);

    expect(await ok("uninstall second -n second --wait --timeout 60s")).toContain('release "second" uninstalled');
    for (const kind of ["deployments", "services", "exchangerates", "secrets"]) {
      expect(await seen("second", kind, "{.items[*].metadata.name}"), kind).toBe("");
    }
    expect(await seen("second", "crd exchangerates.rates.example.com", "{.metadata.name}")).not.toBe("");
  });

  it("gives up an upgrade whose pods never run, and takes it back", async () => {
    await install("third");
    const failed = await helm(`upgrade third ${chart} -n third --set image=app:broken --wait --timeout 4s`);
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toMatch(/context deadline exceeded|not ready|timed out/i);
    expect(await ok("status third -n third")).toMatch(/STATUS: failed/);
    expect(await ok("rollback third -n third --wait --timeout 60s")).toContain("Rollback was a success");
    expect(await seen("third", "deployment third", "{.spec.template.spec.containers[0].image}")).toBe("app:1");
  });

  it("shows what the server refuses", async () => {
    const refused = await helm(`install fourth ${chart} --set currency=euro --namespace default`);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(`spec.currency: Invalid value: "euro": spec.currency in body should match`);
  });
});
