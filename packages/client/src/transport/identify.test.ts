import { describe, expect, it } from "vitest";
import { type Identity, impersonationHeaders } from "../config/index.ts";
import { TEST_CLIENT_CERT } from "../fixtures/index.ts";
import { jwt } from "../test-jwt.ts";
import { apiErrorFrom, ForbiddenError, UnauthorizedError } from "./errors.ts";
import { identify } from "./identify.ts";
import type { RawRequest, RawResponse } from "./request.ts";

const tls = { rejectUnauthorized: true };
const user = { username: "ann", uid: "7", groups: ["devs"], extra: { a: ["b"] } };

/** A server that answers reviews with what is given; a number is a refusal. */
function server(answers: { self?: object | number; token?: object | number }, identity: Identity = { tls }) {
  const asked: RawRequest[] = [];
  const send = async (request: RawRequest): Promise<RawResponse> => {
    asked.push(request);
    const answer = (request.path.endsWith("selfsubjectreviews") ? answers.self : answers.token) ?? 404;
    if (typeof answer === "number") throw apiErrorFrom(answer, { message: "no" }, request);
    return { json: async () => ({ status: answer }) } as unknown as RawResponse;
  };
  return { asked, context: { send, credentials: { current: async () => identity } } };
}

describe("identify", () => {
  it("asks by SelfSubjectReview", async () => {
    const { asked, context } = server({ self: { userInfo: user } });
    expect(await identify(context, { timeout: "5s" })).toEqual({ ...user, source: "SelfSubjectReview" });
    expect(asked).toMatchObject([{ method: "POST", timeout: "5s", body: { kind: "SelfSubjectReview" } }]);
  });

  it.each([403, 404])("asks by TokenReview where the first answer is %i", async (self) => {
    const { asked, context } = server({ self, token: { authenticated: true, user } }, { tls, token: "t" });
    expect(await identify(context)).toEqual({ ...user, source: "TokenReview" });
    expect(asked[1]?.body).toMatchObject({ kind: "TokenReview", spec: { token: "t" } });
    const basic = server({ self, token: { authenticated: true, user } }, { tls, authorization: "Bearer t" });
    expect((await identify(basic.context)).source).toBe("TokenReview");
  });

  it("reads the certificate where nothing else is allowed", async () => {
    const { context } = server({ self: 403 }, { tls: { ...tls, cert: TEST_CLIENT_CERT } });
    expect(await identify(context)).toEqual({ username: "jane", groups: ["devs"], extra: {}, source: "certificate" });
  });

  it("reads a service account's token, and no other", async () => {
    const sub = "system:serviceaccount:team-a:robot";
    const { context } = server({ self: 404, token: 403 }, { tls, token: jwt({ sub }) });
    expect(await identify(context)).toMatchObject({ username: sub, source: "token" });
    const other = server({ self: 404, token: 403 }, { tls, token: jwt({ sub: "ann" }) });
    await expect(identify(other.context)).rejects.toMatchObject({ status: 404 });
  });

  it("says whom it impersonates, not who it is", async () => {
    const { asked, context } = server({ self: 403, token: { authenticated: true, user } }, { tls, token: "t" });
    const headers = impersonationHeaders({ user: "jörg", groups: ["a"] });
    expect(await identify({ ...context, headers })).toEqual({
      ...{ username: "jörg", groups: ["a"], extra: {}, source: "impersonation" },
    });
    expect(asked).toHaveLength(1);
  });

  it("fails with the first refusal when nothing tells, and at once when the server does not know us", async () => {
    await expect(identify(server({ self: 403 }).context)).rejects.toBeInstanceOf(ForbiddenError);
    const { asked, context } = server({ self: 401, token: { authenticated: true, user } }, { tls, token: "t" });
    await expect(identify(context)).rejects.toBeInstanceOf(UnauthorizedError);
    expect(asked).toHaveLength(1);
  });
});
