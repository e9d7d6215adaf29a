import { createPublicKey, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Store } from "../store/index.ts";
import { newSigningKey } from "./jwt.ts";
import { ISSUER, ServiceAccountTokens, type TokenClaims } from "./tokens.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

function setup() {
  const clock = { now: NOW };
  const store = new Store({ now: () => 0 });
  const put = (table: string, key: string, uid: string) => {
    const [namespace, name = ""] = key.split("/");
    store.create(table, key, { metadata: { namespace: namespace ?? "", name, uid, resourceVersion: "" } } as never);
  };
  const drop = (table: string, key: string) => {
    store.delete(table, key, store.get(table, key)?.revision ?? 0);
  };
  put("serviceaccounts", "here/robot", "u-1");
  const tokens = new ServiceAccountTokens({ store, now: () => clock.now });
  const issue = (more: Partial<TokenClaims> = {}) =>
    tokens.issue({
      namespace: "here",
      account: { name: "robot", uid: "u-1" },
      audiences: [ISSUER],
      issuedAt: NOW / 1_000,
      expiresAt: NOW / 1_000 + 600,
      id: "j-1",
      ...more,
    });
  return { clock, put, drop, tokens, issue };
}

const refused = (error: string | undefined) => ({ ok: false, error });

describe("tokens of service accounts", () => {
  it("say who their account is", () => {
    const { tokens, issue } = setup();
    expect(tokens.authenticate(issue())).toEqual({
      ok: true,
      audiences: [ISSUER],
      user: {
        username: "system:serviceaccount:here:robot",
        uid: "u-1",
        groups: ["system:serviceaccounts", "system:serviceaccounts:here", "system:authenticated"],
        extra: { "authentication.kubernetes.io/credential-id": ["JTI=j-1"] },
      },
    });
  });

  it("can be checked by anybody with the published key", () => {
    const { tokens, issue } = setup();
    const [header = "", payload = "", signature = ""] = issue().split(".");
    const [jwk] = tokens.keySet().keys;
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({ alg: "ES256", kid: jwk?.kid });
    const key = createPublicKey({ key: jwk as never, format: "jwk" });
    const signed = Buffer.from(`${header}.${payload}`);
    const bytes = Buffer.from(signature, "base64url");
    expect(verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, bytes)).toBe(true);
  });

  it("are void once they are changed, and when somebody else signed them", () => {
    const { tokens, issue } = setup();
    const [header, payload = "", signature] = issue().split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: "system:serviceaccount:here:king" })).toString(
      "base64url",
    );
    expect(tokens.authenticate(`${header}.${forged}.${signature}`).ok).toBe(false);
    expect(setup().tokens.authenticate(issue())).toEqual(refused("invalid signature, no keys found"));
    expect(tokens.authenticate("not.a.token")).toEqual(refused(undefined));
    expect(tokens.authenticate("nonsense")).toEqual(refused(undefined));
  });

  it("end at their time and a minute", () => {
    const { clock, tokens, issue } = setup();
    const token = issue();
    clock.now = NOW + 660_000;
    expect(tokens.authenticate(token).ok).toBe(true);
    clock.now += 1_000;
    expect(tokens.authenticate(token)).toEqual(refused("service account token has expired"));
    clock.now = NOW - 61_000;
    expect(tokens.authenticate(token)).toEqual(refused("service account token is not valid yet"));
  });

  it("are good for their audiences only", () => {
    const { tokens, issue } = setup();
    const token = issue({ audiences: ["a", "b"] });
    expect(tokens.authenticate(token)).toEqual(
      refused(`token audiences ["a" "b"] is invalid for the target audiences ["${ISSUER}"]`),
    );
    expect(tokens.authenticate(token, ["b", "c"])).toMatchObject({ ok: true, audiences: ["b"] });
  });

  it("end with their account, even if one of the same name follows", () => {
    const { put, drop, tokens, issue } = setup();
    const token = issue();
    drop("serviceaccounts", "here/robot");
    expect(tokens.authenticate(token)).toEqual(refused('serviceaccounts "robot" not found'));
    put("serviceaccounts", "here/robot", "u-2");
    expect(tokens.authenticate(token)).toEqual(refused("service account UID (u-2) does not match claim (u-1)"));
  });

  it("end with the pod that they are bound to, and name it and its node", () => {
    const { put, drop, tokens, issue } = setup();
    put("pods", "here/p", "p-1");
    const token = issue({ pod: { name: "p", uid: "p-1" }, node: { name: "n", uid: "n-1" } });
    const verdict = tokens.authenticate(token);
    expect(verdict.ok && verdict.user.extra).toEqual({
      "authentication.kubernetes.io/credential-id": ["JTI=j-1"],
      "authentication.kubernetes.io/node-name": ["n"],
      "authentication.kubernetes.io/node-uid": ["n-1"],
      "authentication.kubernetes.io/pod-name": ["p"],
      "authentication.kubernetes.io/pod-uid": ["p-1"],
    });
    drop("pods", "here/p");
    expect(tokens.authenticate(token)).toEqual(refused("service account token has been invalidated"));
    put("pods", "here/p", "p-2");
    expect(tokens.authenticate(token)).toEqual(
      refused("pod UID (p-2) does not match service account pod ref claim (p-1)"),
    );
  });

  it("outlive the server that keeps its key", () => {
    const signingKey = newSigningKey();
    const store = new Store({ now: () => 0 });
    const make = () => new ServiceAccountTokens({ store, now: () => NOW, signingKey });
    expect(make().keySet()).toEqual(make().keySet());
  });
});
