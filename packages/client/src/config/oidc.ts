/**
 * Tokens of an OpenID Connect provider, by the `auth-provider: oidc` of a kubeconfig.
 *
 *     id-token of the kubeconfig ── expired or refused ──► discovery document ──► token endpoint ──► new id-token
 *
 * All requests that wait share one exchange. New tokens live in memory only: a kubeconfig belongs to its user, and a second
 * program that rewrote it would take the first one's refresh token away.
 */
import { Buffer } from "node:buffer";
import { resolve } from "node:path";
import { type Clock, isObject } from "../meta/index.ts";
import type { CredentialIssuer, IssuedCredential } from "./credentials.ts";
import { readPem } from "./credentials.ts";
import { AuthError } from "./errors.ts";
import { RenewedFile } from "./files.ts";
import { expiryOfToken } from "./jwt.ts";
import { type Answer, ask } from "./oidc-request.ts";

/** The keys of `auth-provider.config`, as kubectl has them. */
export type OidcConfig = Readonly<Record<string, string | undefined>>;

/** What an exchange of tokens needs besides the provider's configuration. */
export interface OidcContext {
  /** The user of the kubeconfig, for messages. */
  readonly user: string;
  readonly folder: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly onWarning: (message: string) => void;
}

/** Clocks differ, and a request takes a while: a token is not used in its last seconds. */
const SKEW_MS = 10_000;
const LOG_IN = "log in again with the tool that wrote the kubeconfig (kubelogin, for instance)";

/** See the module comment. */
export class OidcIssuer implements CredentialIssuer {
  readonly #config: OidcConfig;
  readonly #context: OidcContext;
  #idToken: string | undefined;
  #refreshToken: string | undefined;
  #refreshing: Promise<IssuedCredential> | undefined;
  #warned = false;

  constructor(config: OidcConfig, context: OidcContext) {
    this.#config = config;
    this.#context = context;
    this.#idToken = config["id-token"] || undefined;
    this.#refreshToken = config["refresh-token"] || undefined;
  }

  async get(): Promise<IssuedCredential> {
    const token = this.#idToken;
    const expiry = token === undefined ? 0 : (expiryOfToken(token) ?? Number.POSITIVE_INFINITY);
    if (token !== undefined && this.#context.clock.now() < expiry - SKEW_MS) return { token };
    if (this.#refreshToken !== undefined) return this.renew();
    const what = token === undefined ? "has no id-token" : `expired at ${new Date(expiry).toISOString()}`;
    throw new AuthError(
      `the OpenID Connect login of the user "${this.#context.user}" ${what}, and has no refresh-token`,
      { hint: LOG_IN },
    );
  }

  /** Gets a new token, or waits for the exchange that is under way. Without a refresh token there is nothing to do. */
  async renew(): Promise<IssuedCredential> {
    if (this.#refreshToken === undefined) return { token: this.#idToken };
    this.#refreshing ??= this.#refresh(this.#refreshToken).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refresh(refreshToken: string): Promise<IssuedCredential> {
    const ca = await this.#authority();
    const endpoint = await this.#discover(ca);
    const answer = await this.#exchange(endpoint, refreshToken, ca);
    const body = isObject(answer.json) ? answer.json : {};
    if (answer.status !== 200) {
      const said = [body.error, body.error_description].filter((text) => typeof text === "string").join(": ");
      throw this.#failure(`refused to renew the token: ${said || `it answered ${answer.status}`}`, LOG_IN);
    }
    if (typeof body.id_token !== "string" || body.id_token === "") {
      throw this.#failure("sent no id_token", 'log in again with the scope "openid"; some providers renew none');
    }
    this.#idToken = body.id_token;
    if (typeof body.refresh_token === "string" && body.refresh_token !== "") this.#replace(body.refresh_token);
    return { token: this.#idToken };
  }

  #replace(refreshToken: string): void {
    if (refreshToken === this.#refreshToken) return;
    this.#refreshToken = refreshToken;
    if (this.#warned) return;
    this.#warned = true;
    this.#context.onWarning(
      `${this.#issuer} replaced the refresh token of the user "${this.#context.user}"; it is kept in memory and not ` +
        "written to the kubeconfig, so the next program may have to log in again",
    );
  }

  /** Where tokens are to be had. */
  async #discover(ca: string | undefined): Promise<{ url: string; methods: readonly unknown[] }> {
    const issuer = this.#issuer;
    const { status, json } = await this.#ask(`${issuer}/.well-known/openid-configuration`, ca);
    const url = isObject(json) ? json.token_endpoint : undefined;
    if (status !== 200 || typeof url !== "string" || !URL.canParse(url)) {
      throw this.#failure(
        status === 200 ? "names no token_endpoint" : `answered ${status} to the question for its configuration`,
        "check idp-issuer-url",
      );
    }
    if (issuer.startsWith("https:") && !url.startsWith("https:")) {
      throw this.#failure(`wants the refresh token without encryption, at ${url}`, "check idp-issuer-url");
    }
    const supported = isObject(json) ? json.token_endpoint_auth_methods_supported : undefined;
    return { url, methods: Array.isArray(supported) ? supported : [] };
  }

  async #exchange(endpoint: { url: string; methods: readonly unknown[] }, refreshToken: string, ca?: string) {
    const [id = "", secret = ""] = [this.#config["client-id"], this.#config["client-secret"]];
    const form = { grant_type: "refresh_token", refresh_token: refreshToken };
    const inBody = { ...form, client_id: id, ...(secret && { client_secret: secret }) };
    if (secret === "") return this.#ask(endpoint.url, ca, { form: inBody });
    // By the standard a provider that says nothing takes the header; some take only the form all the same.
    const { methods } = endpoint;
    const header = methods.length === 0 || methods.includes("client_secret_basic");
    if (!header) return this.#ask(endpoint.url, ca, { form: inBody });
    const pair = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
    const authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
    const answer = await this.#ask(endpoint.url, ca, { form, authorization });
    const unknown = answer.status === 401 || (isObject(answer.json) && answer.json.error === "invalid_client");
    return unknown ? this.#ask(endpoint.url, ca, { form: inBody }) : answer;
  }

  async #ask(
    url: string,
    ca: string | undefined,
    o: { form?: Record<string, string>; authorization?: string } = {},
  ): Promise<Answer> {
    try {
      return await ask(url, { ...o, ca, env: this.#context.env });
    } catch (cause) {
      if (cause instanceof AuthError) throw cause;
      throw this.#failure(
        `cannot be asked: ${(cause as Error).message}`,
        "check idp-issuer-url and the network",
        cause,
      );
    }
  }

  async #authority(): Promise<string | undefined> {
    const data = this.#config["idp-certificate-authority-data"];
    if (data) return readPem(data);
    const path = this.#config["idp-certificate-authority"];
    if (!path) return undefined;
    const { folder, clock, user } = this.#context;
    const field = `idp-certificate-authority of the user "${user}"`;
    return (
      await new RenewedFile(resolve(folder ?? ".", path), "certificate authority", clock, field).read()
    ).toString();
  }

  get #issuer(): string {
    const issuer = this.#config["idp-issuer-url"] ?? "";
    if (/^https?:\/\//.test(issuer) && URL.canParse(issuer)) return issuer.replace(/\/+$/, "");
    throw new AuthError(
      `the OpenID Connect login of the user "${this.#context.user}" cannot be renewed: idp-issuer-url is ` +
        `${issuer ? `"${issuer}", which is no address` : "missing"}`,
      { hint: LOG_IN },
    );
  }

  #failure(what: string, hint: string, cause?: unknown): AuthError {
    const message = `the identity provider ${this.#issuer} of the user "${this.#context.user}" ${what}`;
    return new AuthError(message, { hint, ...(cause === undefined ? {} : { cause }) });
  }
}
