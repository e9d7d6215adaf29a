import fc from "fast-check";
import { load } from "js-yaml";
import { expect, it } from "vitest";
import { buildKubeconfig, kubeconfigText } from "./kubeconfig.ts";

it("is read by every parser of YAML as it was meant", () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "yes",
      "null",
      "0x10",
      "1e3",
      "-",
      "a: b",
      "#",
      "'",
      "~",
      "2026-01-01",
      "*a",
      "a\nb",
      "é",
      "https://h:1",
    ),
  );
  fc.assert(
    fc.property(word, word, word, fc.constantFrom("", "-----BEGIN"), (name, token, namespace, caPem) => {
      const kubeconfig = buildKubeconfig({ name, url: "https://[::1]:6443", caPem, user: { token }, namespace });
      expect(load(kubeconfigText(kubeconfig))).toEqual(kubeconfig);
    }),
  );
});

it("looks like one that a person would write", () => {
  const text = kubeconfigText(
    buildKubeconfig({ name: "lotse", url: "https://127.0.0.1:6443", caPem: "x", user: { token: "secret" } }),
  );
  expect(text).toBe(`apiVersion: v1
kind: Config
clusters:
  - name: lotse
    cluster:
      server: https://127.0.0.1:6443
      certificate-authority-data: eA==
users:
  - name: lotse
    user:
      token: secret
contexts:
  - name: lotse
    context:
      cluster: lotse
      user: lotse
      namespace: default
current-context: lotse
`);
});
