/**
 * Credentials from a program, by the protocol `client.authentication.k8s.io`: it prints an ExecCredential, which holds
 * until its expiry. Concurrent requests share one run, which is ended when the last of them has given up: except where
 * a person at a terminal may be answering its questions.
 *
 * Arguments and environment of a plugin can carry secrets. No error tells them.
 */
import { type Clock, isObject, untilAborted } from "../meta/index.ts";
import type { CredentialIssuer, CredentialWait, IssuedCredential } from "./credentials.ts";
import { AuthError } from "./errors.ts";
import type { ExecConfig } from "./kubeconfig-parse.ts";
import { loadRunner, type RunProgram } from "./run-program.ts";
import { SharedWork } from "./shared-work.ts";

export type { RunProgram };

/** What a plugin gave. */
export interface ExecCredential extends IssuedCredential {
  /** Wall-clock time; `undefined` holds until the server refuses it. */
  readonly expiresAt?: number | undefined;
}

/** What a plugin is told of the cluster when it asks for it. */
export interface ExecClusterInfo {
  readonly server: string;
  readonly "certificate-authority-data"?: string | undefined;
  readonly "insecure-skip-tls-verify"?: boolean | undefined;
  readonly "tls-server-name"?: string | undefined;
}

interface ExecPluginContext {
  readonly cluster: ExecClusterInfo;
  readonly folder: string | undefined;
  /** Where it is written that it shall be run: `of the user "jane" in /home/jane/.kube/config`. */
  readonly place?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly run?: RunProgram | undefined;
}

const PREFIX = "client.authentication.k8s.io/";
/** Clocks differ, and a request takes a while: a credential is not used in its last minute. */
const SKEW_MS = 60_000;

/** Credentials by way of a program, as client-go runs it; kept until shortly before they expire. */
export class ExecPlugin implements CredentialIssuer {
  readonly #config: ExecConfig;
  readonly #context: ExecPluginContext;
  #cached: ExecCredential | undefined;
  readonly #work = new SharedWork((signal) => this.#run(signal));

  constructor(config: ExecConfig, context: ExecPluginContext) {
    const version = config.apiVersion?.startsWith(PREFIX) ? config.apiVersion.slice(PREFIX.length) : config.apiVersion;
    if (version !== "v1" && version !== "v1beta1") {
      throw new AuthError(`${nameOf(config, context)} speaks ${config.apiVersion}, which is too old`, {
        hint: `update it, and set apiVersion: ${PREFIX}v1 for it in the kubeconfig`,
      });
    }
    this.#config = config;
    this.#context = context;
  }

  /** The credential; the program runs only when there is none that still holds. */
  async get(o: CredentialWait = {}): Promise<ExecCredential> {
    const cached = this.#cached;
    const { clock } = this.#context;
    if (cached && (cached.expiresAt === undefined || clock.now() < cached.expiresAt - SKEW_MS)) return cached;
    return this.renew(o);
  }

  /** Runs the program, or waits for the run that is under way. */
  async renew({ signal }: CredentialWait = {}): Promise<ExecCredential> {
    if (!(await this.#isInteractive())) return this.#work.join(signal);
    return untilAborted(this.#work.join(), signal);
  }

  async #isInteractive(): Promise<boolean> {
    const { isatty } = await import("node:tty");
    return this.#config.interactiveMode !== "Never" && isatty(0);
  }

  async #run(signal: AbortSignal): Promise<ExecCredential> {
    const { command, args, installHint, interactiveMode } = this.#config;
    const { env, folder, run = await loadRunner() } = this.#context;
    const name = nameOf(this.#config, this.#context);
    const interactive = await this.#isInteractive();
    if (interactiveMode === "Always" && !interactive) {
      throw new AuthError(`${name} needs a terminal`, {
        hint: "run this in a terminal, or use credentials that need no questions",
      });
    }
    const extra = Object.fromEntries((this.#config.env ?? []).map(({ name, value }) => [name, value]));
    const result = await run(await locate(command, folder), args ?? [], {
      env: { ...env, ...extra, KUBERNETES_EXEC_INFO: this.#execInfo(interactive) },
      interactive,
      signal,
    }).catch((cause: NodeJS.ErrnoException) => {
      signal.throwIfAborted();
      const missing = cause.code === "ENOENT";
      throw new AuthError(missing ? `${name} is not installed` : `${name} cannot be run: ${cause.message}`, {
        cause,
        hint: installHint?.trim() || "install it, and see that it is in the PATH",
      });
    });
    if (result.exitCode !== 0) {
      const said = withoutSecrets(lastOf(result.stderr), this.#config);
      throw new AuthError(`${name} failed (exit code ${result.exitCode}): ${said}`, {
        hint: `run ${command} by hand, with the arguments that the kubeconfig has for it, to see what it needs`,
      });
    }
    this.#cached = readCredential(result.stdout, name);
    return this.#cached;
  }

  #execInfo(interactive: boolean): string {
    const { apiVersion, provideClusterInfo } = this.#config;
    const spec = { interactive, ...(provideClusterInfo ? { cluster: this.#context.cluster } : {}) };
    return JSON.stringify({ apiVersion, kind: "ExecCredential", spec });
  }
}

function nameOf({ command }: ExecConfig, { place }: ExecPluginContext): string {
  return `the credential plugin ${command}${place === undefined ? "" : ` ${place}`}`;
}

/** Reads what a plugin printed. */
export function readCredential(stdout: string, name: string): ExecCredential {
  let answer: unknown;
  try {
    answer = JSON.parse(stdout);
  } catch (cause) {
    throw new AuthError(`${name} did not print JSON`, {
      cause,
      hint: "it should print an ExecCredential; run it by hand to see what it prints",
    });
  }
  const status = isObject(answer) && isObject(answer.status) ? answer.status : {};
  const text = (key: string) => (typeof status[key] === "string" && status[key] !== "" ? status[key] : undefined);
  const [token, cert, key] = [text("token"), text("clientCertificateData"), text("clientKeyData")];
  if (token === undefined && (cert === undefined || key === undefined)) {
    throw new AuthError(`${name} printed neither a token nor a certificate with its key`, {
      hint: "log in with it again",
    });
  }
  const expiresAt = Date.parse(text("expirationTimestamp") ?? "");
  return { token, cert, key, ...(Number.isNaN(expiresAt) ? {} : { expiresAt }) };
}

/** A command with a slash in it is relative to the kubeconfig; any other is found in the PATH. */
async function locate(command: string, folder: string | undefined): Promise<string> {
  const { isAbsolute, resolve } = await import("node:path");
  if (folder === undefined || isAbsolute(command) || !/[\\/]/.test(command)) return command;
  return resolve(folder, command);
}

/** Programs like to repeat how they were called. */
function withoutSecrets(text: string, { args, env }: ExecConfig): string {
  const given = [...(args ?? []), ...(env ?? []).map(({ value }) => value)];
  const values = given.flatMap((value) => [value, value.slice(value.indexOf("=") + 1)]);
  return values
    .filter((value) => value.length >= SHORTEST_SECRET && text.includes(value))
    .sort((a, b) => b.length - a.length)
    .reduce((shown, value) => shown.replaceAll(value, "…"), text);
}

/** Shorter ones are words, such as the names of commands. */
const SHORTEST_SECRET = 8;

const lastOf = (text: string): string => text.trim().split("\n").slice(-3).join(" ") || "it said nothing";
