import { describe, expect, it } from "vitest";
import { leaseNamespace, newRun, processIdentity } from "./identity.ts";

const run = "0a1b2c3d-0000-4000-8000-000000000000";

describe("who a process is", () => {
  it.each([
    ["the pod's name by the downward API", { POD_NAME: "rates-5f-x2" }, "rates-5f-x2_0a1b2c3d"],
    ["the host's name in a pod", { KUBERNETES_SERVICE_HOST: "10.0.0.1", HOSTNAME: "rates-5f" }, "rates-5f_0a1b2c3d"],
    ["host and process elsewhere", { HOSTNAME: "of-the-shell" }, "laptop_42_0a1b2c3d"],
  ])("is told by %s, and by what no other run has", (_, environment, identity) => {
    expect(processIdentity({ environment, run, host: "laptop", pid: 42 })).toBe(identity);
  });

  it("is another one in each run", () => {
    expect(newRun()).not.toBe(newRun());
  });
});

describe("where the Lease lies", () => {
  const client = { namespace: "of-the-client" };

  it("is told by the option, by the pod, or by the client", () => {
    expect(leaseNamespace("chosen", { POD_NAMESPACE: "of-the-pod" }, client)).toBe("chosen");
    expect(leaseNamespace(undefined, { POD_NAMESPACE: "of-the-pod" }, client)).toBe("of-the-pod");
    expect(leaseNamespace(undefined, {}, client)).toBe("of-the-client");
  });

  it("is one namespace, though the client works in all", () => {
    expect(leaseNamespace(undefined, {}, { namespace: "*" })).toBe("default");
  });
});
