import { expect, it } from "vitest";
import { Stage } from "../controllers/workloads/test-stage.ts";

const pod = (name: string, sysctls: object[], spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: "c", image: "app:1" }], securityContext: { sysctls }, ...spec },
});

it("a pod with a sysctl that could harm others is sent back by its node; one that is safe runs", async () => {
  await using stage = await Stage.start();
  await stage.create("pods", pod("safe", [{ name: "kernel.shm_rmid_forced", value: "1" }]));
  await stage.create("pods", pod("slashes", [{ name: "net/ipv4/tcp_syncookies", value: "1" }]));
  await stage.create("pods", pod("unsafe", [{ name: "kernel.msgmax", value: "10" }]));
  await stage.pass(1_000);
  expect((await stage.get("pods", "safe")).status.phase).toBe("Running");
  expect((await stage.get("pods", "slashes")).status.phase).toBe("Running");
  const { status } = await stage.get("pods", "unsafe");
  expect(status).toMatchObject({
    phase: "Failed",
    reason: "SysctlForbidden",
    message: 'Pod was rejected: forbidden sysctl: "kernel.msgmax" not allowlisted',
  });
  expect(status).not.toHaveProperty("containerStatuses");
  expect(await stage.events("unsafe")).toContain('SysctlForbidden: forbidden sysctl: "kernel.msgmax" not allowlisted');
  await stage.remove("pods", "unsafe");
  expect(await stage.names("pods")).toEqual(["safe", "slashes"]);
});
