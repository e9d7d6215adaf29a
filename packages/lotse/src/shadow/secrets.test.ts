import type { KubeBody } from "@lotse/client";
import { expect, it } from "vitest";
import { asStored, masked, mayBeRandom } from "./secrets.ts";

const secret = { apiVersion: "v1", kind: "Secret" };

it("what is in a Secret is hidden, and whether two differ is not", () => {
  const [one, other] = [{ data: { same: "x", word: "a" } }, { data: { same: "x", word: "b" } }];
  const [is, would] = [masked(one, secret, other), masked(other, secret, one)] as { data: Record<string, string> }[];
  expect(is?.data.same).toBe(would?.data.same);
  expect(is?.data.word).not.toBe(would?.data.word);
  expect(JSON.stringify([is, would])).not.toMatch(/"[abx]"/);
  expect(masked(one, { apiVersion: "v1", kind: "ConfigMap" }, other)).toBe(one);
});

it("texts of a Secret are kept encoded among its data", () => {
  const body = { ...secret, data: { a: "eA==" }, stringData: { b: "y" } };
  expect(asStored(body)).toEqual({ ...secret, data: { a: "eA==", b: "eQ==" } });
  const map = { apiVersion: "v1", kind: "ConfigMap", stringData: { b: "y" } };
  expect(asStored(map)).toBe(map);
});

it("two Secrets with values of the same length may both be made up at random", () => {
  const random = (one: object, other: object, more: object = {}, body: KubeBody = secret) =>
    mayBeRandom(body, { data: one }, { data: other, ...more });
  const [a, b] = ["c3dvcmRmaXNo", "bWFybGluZXMx"];
  expect(random({ password: a, same: "x" }, { password: b, same: "x" })).toBe(true);
  expect(random({ password: a }, { password: `${b}${b}` })).toBe(false);
  expect(random({ password: a }, { password: b, more: "x" })).toBe(false);
  expect(random({ password: a }, { password: b }, { metadata: { labels: { l: "1" } } })).toBe(false);
  expect(random({ flag: "MQ==" }, { flag: "Mg==" })).toBe(false);
  expect(random({ password: a }, { password: b }, {}, { apiVersion: "v1", kind: "ConfigMap" })).toBe(false);
});
