import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import * as https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dump } from "js-yaml";
import { describe, expect, it, onTestFinished } from "vitest";
import { answer, type SeenRequest, TEST_CA, TEST_SERVER_CERT, TEST_SERVER_KEY, TestServer } from "../fixtures/index.ts";
import { VirtualClock } from "../meta/index.ts";
import { jwt } from "../test-jwt.ts";
import { openAccess } from "./access.ts";
import { AuthError } from "./errors.ts";
import { OidcIssuer } from "./oidc.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const idToken = (expiresAt: number, subject = "ann") => jwt({ sub: subject, exp: expiresAt / 1_000 });

interface ProviderOptions {
  /** The answer of the token endpoint, for the n-th time. */
  readonly token?: (form: URLSearchParams, request: SeenRequest, count: number) => { status?: number; body: object };
  readonly discovery?: object | undefined;
}

/** An identity provider with TLS. */
async function provider(o: ProviderOptions = {}) {
  let tokens = 0;
  const server = await TestServer.start(
    (request, response) => {
      if (request.url === "/realm/.well-known/openid-configuration") {
        return answer(response, 200, o.discovery ?? { token_endpoint: `${issuer}/token` });
      }
      if (request.url !== "/realm/token") return answer(response, 404, {});
      const reply = o.token?.(new URLSearchParams(request.body), request, ++tokens) ?? { body: {} };
      answer(response, reply.status ?? 200, reply.body);
    },
    (listener) => https.createServer({ cert: TEST_SERVER_CERT, key: TEST_SERVER_KEY }, listener),
  );
  onTestFinished(() => server[Symbol.asyncDispose]());
  const issuer = `https://localhost:${server.port}/realm`;
  return { issuer, server, asked: () => tokens };
}

function login(issuer: string, config: Record<string, string> = {}) {
  const clock = new VirtualClock();
  const warnings: string[] = [];
  const made = new OidcIssuer(
    {
      "idp-issuer-url": `${issuer}/`,
      "client-id": "kubernetes",
      "refresh-token": "refresh-1",
      "idp-certificate-authority-data": base64(TEST_CA),
      ...config,
    },
    { user: "ann", folder: undefined, env: {}, clock, onWarning: (text) => warnings.push(text) },
  );
  return { made, clock, warnings };
}

describe("an OpenID Connect login", () => {
  it("uses the id-token until shortly before its end, then gets one for the refresh token, once for all who ask", async () => {
    const start = new VirtualClock().now();
    const fresh = idToken(start + 7_200_000);
    const { issuer, server, asked } = await provider({ token: () => ({ body: { id_token: fresh } }) });
    const old = idToken(start + 3_600_000);
    const { made, clock, warnings } = login(issuer, { "id-token": old });
    expect(await made.get()).toEqual({ token: old });
    await clock.advance(3_600_000 - 10_001);
    expect(await made.get()).toEqual({ token: old });
    expect(server.seen).toEqual([]);
    await clock.advance(1);
    expect(await Promise.all([made.get(), made.get(), made.get()])).toEqual(new Array(3).fill({ token: fresh }));
    expect(asked()).toBe(1);
    const form = new URLSearchParams(server.seen.at(-1)?.body);
    expect(Object.fromEntries(form)).toEqual({
      grant_type: "refresh_token",
      refresh_token: "refresh-1",
      client_id: "kubernetes",
    });
    expect(warnings).toEqual([]);
  });

  it("gets a new token when the server refused the present one", async () => {
    const far = Date.parse("2100-01-01");
    const { issuer } = await provider({ token: (_, __, n) => ({ body: { id_token: idToken(far, `ann-${n}`) } }) });
    const kubeconfig = {
      "current-context": "main",
      clusters: [{ name: "c", cluster: { server: "https://main" } }],
      users: [
        {
          name: "ann",
          user: {
            "auth-provider": {
              name: "oidc",
              config: {
                "id-token": idToken(far, "refused"),
                "refresh-token": "r",
                "idp-issuer-url": issuer,
                "client-id": "k",
                "idp-certificate-authority": "idp.pem",
              },
            },
          },
        },
      ],
      contexts: [{ name: "main", context: { cluster: "c", user: "ann" } }],
    };
    const folder = await mkdtemp(join(tmpdir(), "lotse-oidc-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, "config");
    await writeFile(path, dump(kubeconfig));
    await writeFile(join(folder, "idp.pem"), TEST_CA);
    const text = await readFile(path, "utf8");
    const { credentials } = await openAccess({ kubeconfig: path, env: {}, onWarning: () => undefined });
    const refused = await credentials.current();
    expect(refused.token).toBe(idToken(far, "refused"));
    expect(await Promise.all([credentials.renew(refused), credentials.renew(refused)])).toEqual([true, true]);
    expect((await credentials.current()).token).toBe(idToken(far, "ann-1"));
    expect(await readFile(path, "utf8"), "the kubeconfig is never written").toBe(text);
  });

  it("keeps a new refresh token in memory, and warns once that the kubeconfig has the old one", async () => {
    const used: (string | null)[] = [];
    const { issuer } = await provider({
      token: (form, _, n) => {
        used.push(form.get("refresh_token"));
        return { body: { id_token: idToken(0), refresh_token: `refresh-${n + 1}` } };
      },
    });
    const { made, warnings } = login(issuer);
    await made.get();
    await made.get();
    expect(used).toEqual(["refresh-1", "refresh-2"]);
    expect(warnings).toEqual([expect.stringContaining("not written to the kubeconfig")]);
  });

  it("shows the client's secret by header, and in the form where the provider wants it there", async () => {
    const seen: [string | undefined, string | null][] = [];
    const token: ProviderOptions["token"] = (form, { headers }) => {
      seen.push([headers.authorization, form.get("client_secret")]);
      if (form.get("client_secret") === null) return { status: 401, body: { error: "invalid_client" } };
      return { body: { id_token: idToken(0) } };
    };
    const first = await provider({ token });
    await login(first.issuer, { "client-secret": "s&c" }).made.renew();
    expect(seen).toEqual([
      [`Basic ${base64("kubernetes:s%26c")}`, null],
      [undefined, "s&c"],
    ]);
  });

  it("says what is wrong and what to do", async () => {
    const failure = async (o: ProviderOptions, config: Record<string, string> = {}) => {
      const { issuer } = await provider(o);
      const error = await login(issuer, config)
        .made.get()
        .catch((reason) => reason);
      expect(error).toBeInstanceOf(AuthError);
      expect(error.message).toContain('user "ann"');
      expect(error.message).not.toContain("refresh-1");
      expect(error.hint).toBeTruthy();
      return error.message as string;
    };
    const over = idToken(Date.parse("2020-01-01"));
    expect(await failure({}, { "refresh-token": "", "id-token": over })).toContain("expired at 2020-01-01");
    expect(await failure({}, { "refresh-token": "" })).toContain("has no id-token");
    const refusal = { status: 400, body: { error: "invalid_grant", error_description: "Token is not active" } };
    expect(await failure({ token: () => refusal })).toContain("invalid_grant: Token is not active");
    expect(await failure({ token: () => ({ body: { access_token: "a" } }) })).toContain("sent no id_token");
    expect(await failure({ discovery: {} })).toContain("names no token_endpoint");
    expect(await failure({ discovery: { token_endpoint: "http://localhost/token" } })).toContain("without encryption");
    expect(await failure({}, { "idp-certificate-authority-data": "" })).toContain("cannot be asked");
    const missing = await login("nowhere")
      .made.get()
      .catch((reason) => reason);
    expect(missing.message).toContain('idp-issuer-url is "nowhere/"');
  });

  it("asks again after a failure", async () => {
    const good = idToken(Date.parse("2100-01-01"));
    const { issuer } = await provider({
      token: (_, __, n) => (n === 1 ? { status: 500, body: {} } : { body: { id_token: good } }),
    });
    const { made } = login(issuer);
    await expect(made.get()).rejects.toThrow("it answered 500");
    expect(await made.get()).toEqual({ token: good });
  });

  it("without a refresh token leaves a refused token as it is", async () => {
    const token = idToken(Date.parse("2100-01-01"));
    const { made } = login("https://nobody", { "refresh-token": "", "id-token": token });
    expect(await made.renew()).toEqual({ token });
  });
});
