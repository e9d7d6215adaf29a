import type { Clock } from "../meta/index.ts";
import type { Kubeconfig } from "./kubeconfig-parse.ts";

/**
 * Where a kubeconfig comes from: a path (or several, merged as kubectl does), a file URL, its text, or the parsed object,
 * which need not have the type {@link Kubeconfig}: it is checked when it is read.
 */
export type KubeconfigSource = string | URL | readonly string[] | { readonly text: string } | Kubeconfig | object;

/** How a client shows who it is, and how it knows the server. */
interface GivenCredentials {
  readonly token?: string | undefined;
  /** Of the authority that signed the server's certificate, PEM. */
  readonly ca?: string | Uint8Array | undefined;
  /** Client certificate, PEM. */
  readonly cert?: string | Uint8Array | undefined;
  /** Its key, PEM. */
  readonly key?: string | Uint8Array | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
}

/**
 * Credentials that a program brings by itself. Certificates are PEM, or base64 of it.
 *
 * @example
 * ```ts
 * const expires = new Date(Date.now() + 3_600_000);
 * const login: Login = { server: "https://k8s.example.com", token: process.env.TOKEN, expires };
 * ```
 */
export interface Login extends GivenCredentials {
  /** The server's address; default: where the configuration says. */
  readonly server?: string | undefined;
  /** What stands before the token. Default `Bearer`. */
  readonly scheme?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly namespace?: string | undefined;
  readonly proxyUrl?: string | undefined;
  /** Of several logins the highest is tried first. Default 0. */
  readonly priority?: number | undefined;
  /** Not used from this time on; then the program is asked again. */
  readonly expires?: Date | string | undefined;
}

/** Brings credentials: asked at the start, when they expire, and when the server refuses them. */
export type LoginFunction = () => Login | readonly Login[] | undefined | Promise<Login | readonly Login[] | undefined>;

/** How to find the server and who to be there. */
export interface AccessOptions extends GivenCredentials {
  /** Default: `$KUBECONFIG`, else `~/.kube/config`, else the service account of the pod. */
  readonly kubeconfig?: KubeconfigSource | undefined;
  /** Default: the kubeconfig's current context. */
  readonly context?: string | undefined;
  /** Default: the context's, else the service account's, else `default`. */
  readonly namespace?: string | undefined;
  /**
   * The server's address. Alone it is used with nothing but the options below, so that the credentials of some kubeconfig
   * are never sent to another server; beside `kubeconfig` or `context` it only replaces the address.
   */
  readonly url?: string | undefined;
  /** Brings the credentials, instead of the configuration. */
  readonly login?: LoginFunction | undefined;
  /** The folder of the service account's files. Default `/var/run/secrets/kubernetes.io/serviceaccount`. */
  readonly serviceAccount?: string | undefined;
  /** Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly clock?: Clock | undefined;
  /**
   * Hears what the configuration leaves doubtful, and the server's `Warning` headers. Default: each text is printed once
   * to stderr; a program with a log of its own, such as an operator, passes this.
   */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** Certificates and host check of a connection. Equal content means the very same value, so that it can be compared. */
export interface TlsMaterial {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  readonly servername?: string | undefined;
  readonly rejectUnauthorized: boolean;
}

/** Who the next request comes from. */
export interface Identity {
  readonly token?: string | undefined;
  /** The whole `Authorization` header, where it is not a bearer token. */
  readonly authorization?: string | undefined;
  readonly tls: TlsMaterial;
}

/** How long a request waits for credentials. */
export interface CredentialWait {
  /** Aborts when the request that needs them is over; then nothing is done for it any longer. */
  readonly signal?: AbortSignal | undefined;
}

/** Knows the identity, and how to get a new one. */
export interface Credentials {
  /** The identity where it is at hand: nothing has to be read, asked or waited for. Else `current` tells. */
  known?(): Identity | undefined;
  current(o?: CredentialWait): Promise<Identity>;
  /** After a 401 with `rejected`: whether there is another identity to try now. */
  renew(rejected: Identity, o?: CredentialWait): Promise<boolean>;
  /** How often one request may be tried anew with another identity. Default 1. */
  readonly renewals?: number;
  /**
   * Gets everything anew, though nothing was refused; `"files"` only reads files again and runs no plugin. The identity is
   * the same value when nothing has changed.
   */
  reload?(what?: "files" | "all", o?: CredentialWait): Promise<Identity>;
}

/** Where the configuration came from, for messages. */
export interface AccessOrigin {
  /** The kubeconfig's files, or what was given instead. */
  readonly files: string;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  /** Where the certificate authority came from: a path, or the field that holds it. */
  readonly authority?: string | undefined;
}

/** Everything that is needed to talk to one server. */
export interface Access {
  /** Without a slash at its end. */
  readonly server: string;
  readonly context?: string | undefined;
  readonly namespace: string;
  readonly source: "kubeconfig" | "in-cluster" | "url" | "login";
  readonly credentials: Credentials;
  /** Sent with each request: impersonation. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly proxyUrl?: string | undefined;
  readonly origin?: AccessOrigin | undefined;
}
