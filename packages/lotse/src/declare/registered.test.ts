import { describe, expect, it } from "vitest";
import { parseRegistered, registeredText } from "./registered.ts";

describe("the note of what is registered", () => {
  const names = [
    { plural: "validatingadmissionpolicies", version: "v1", name: "vip.zoo.lotse.dev" },
    { plural: "validatingadmissionpolicybindings", version: "v1", name: "vip.zoo.lotse.dev" },
    { plural: "mutatingwebhookconfigurations", version: "v1", name: "zoo.lotse.dev" },
  ];

  it("is what kubectl delete takes, each once", () => {
    expect(registeredText([...names, ...names])).toBe(
      "mutatingwebhookconfigurations.v1.admissionregistration.k8s.io/zoo.lotse.dev " +
        "validatingadmissionpolicies.v1.admissionregistration.k8s.io/vip.zoo.lotse.dev " +
        "validatingadmissionpolicybindings.v1.admissionregistration.k8s.io/vip.zoo.lotse.dev",
    );
  });

  it("is read with policies last: without its binding a policy judges nothing", () => {
    expect(parseRegistered(registeredText(names)).map(({ plural }) => plural)).toEqual([
      "mutatingwebhookconfigurations",
      "validatingadmissionpolicybindings",
      "validatingadmissionpolicies",
    ]);
  });

  it.each([
    "",
    "secrets.v1.core/all",
    "namespaces.v1.admissionregistration.k8s.io.example.com/default",
    "pods/../../secrets",
    "validatingwebhookconfigurations/zoo",
    "\u0000",
  ])("names nothing where it was damaged: %j", (text) => {
    expect(parseRegistered(text)).toEqual([]);
  });
});
