import { describe, expect, it } from "vitest";
import { TEST_CLIENT_CERT } from "../fixtures/index.ts";
import { jwt } from "../test-jwt.ts";
import { explainRefusal } from "./refusal.ts";

const tls = { rejectUnauthorized: true };
const now = Date.parse("2026-01-02T00:00:00Z");
const origin = { files: "/home/ann/.kube/config", user: "ann" };

describe("what is said of refused credentials", () => {
  it("is that the token expired, when, whose it is and where it stands", async () => {
    const token = jwt({ exp: now / 1_000 - 3_600 });
    const expected =
      'the token of the user "ann" expired at 2026-01-01T23:00:00.000Z (context "main" in /home/ann/.kube/config): log in again';
    expect(await explainRefusal({ tls, token }, { now, origin, context: "main" })).toBe(expected);
    expect(await explainRefusal({ tls, authorization: `Bearer ${token}` }, { now })).toContain("the token expired at");
  });

  it("is that the certificate expired", async () => {
    const identity = { tls: { ...tls, cert: TEST_CLIENT_CERT } };
    expect(await explainRefusal(identity, { now: Date.parse("2121-01-01"), origin })).toContain(
      'the client certificate of the user "ann" expired at 2120-01-01',
    );
    expect(await explainRefusal(identity, { now })).toContain("does not know the client certificate");
  });

  it("is that there are none, or that the server does not know them", async () => {
    expect(await explainRefusal({ tls }, { now })).toContain("no credentials were sent");
    expect(await explainRefusal({ tls, token: "opaque" }, { now })).toContain("does not know the token");
    expect(await explainRefusal({ tls, authorization: "Basic eDp5" }, { now })).toContain("user name or password");
    expect(await explainRefusal({ tls: { ...tls, cert: "no PEM" } }, { now })).toContain("client certificate");
  });
});
