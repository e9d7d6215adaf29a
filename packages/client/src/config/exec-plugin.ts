/**
 * Credentials from a program, by the protocol `client.authentication.k8s.io`: it prints an ExecCredential, which holds
 * until its expiry. Concurrent requests share one run.
 */
import { type Clock, isObject } from "../meta/index.ts";
import type { CredentialIssuer, IssuedCredential } from "./credentials.ts";
import { AuthError } from "./errors.ts";
import type { ExecConfig } from "./kubeconfig.ts";

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

/** Runs a program; rejects with the system's error when it cannot be started. */
export type RunProgram = (
  command: string,
  args: readonly string[],
  o: { env: Record<string, string | undefined>; interactive: boolean },
) => Promise<{ exitCode: number; stdout: string; stderr: string }>;

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

export class ExecPlugin implements CredentialIssuer {
  readonly #config: ExecConfig;
  readonly #context: ExecPluginContext;
  #cached: ExecCredential | undefined;
  #running: Promise<ExecCredential> | undefined;

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
  async get(): Promise<ExecCredential> {
    const cached = this.#cached;
    const { clock } = this.#context;
    if (cached && (cached.expiresAt === undefined || clock.now() < cached.expiresAt - SKEW_MS)) return cached;
    return this.renew();
  }

  /** Runs the program, or waits for the run that is under way. */
  renew(): Promise<ExecCredential> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<ExecCredential> {
    const { command, args, installHint, interactiveMode } = this.#config;
    const { env, folder, run = await loadRunner() } = this.#context;
    const name = nameOf(this.#config, this.#context);
    const { isatty } = await import("node:tty");
    const interactive = interactiveMode !== "Never" && isatty(0);
    if (interactiveMode === "Always" && !interactive) {
      throw new AuthError(`${name} needs a terminal`, {
        hint: "run this in a terminal, or use credentials that need no questions",
      });
    }
    const extra = Object.fromEntries((this.#config.env ?? []).map(({ name, value }) => [name, value]));
    const result = await run(await locate(command, folder), args ?? [], {
      env: { ...env, ...extra, KUBERNETES_EXEC_INFO: this.#execInfo(interactive) },
      interactive,
    }).catch((cause: NodeJS.ErrnoException) => {
      const missing = cause.code === "ENOENT";
      throw new AuthError(missing ? `${name} is not installed` : `${name} cannot be run: ${cause.message}`, {
        cause,
        hint: installHint?.trim() || "install it, and see that it is in the PATH",
      });
    });
    if (result.exitCode !== 0) {
      throw new AuthError(`${name} failed (exit code ${result.exitCode}): ${lastOf(result.stderr)}`, {
        hint: `run it by hand to see what it needs: ${[command, ...(args ?? [])].join(" ")}`,
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

const lastOf = (text: string): string => text.trim().split("\n").slice(-3).join(" ") || "it said nothing";

/** Loaded when needed: most clients never start a program. */
async function loadRunner(): Promise<RunProgram> {
  const { spawn } = await import("node:child_process");
  return (command, args, o) =>
    new Promise((resolve, reject) => {
      const child = spawn(command, args, {
        env: o.env,
        stdio: [o.interactive ? "inherit" : "ignore", "pipe", "pipe"],
        windowsHide: true,
      });
      const output = { stdout: "", stderr: "" };
      for (const name of ["stdout", "stderr"] as const) {
        child[name]?.setEncoding("utf8").on("data", (text: string) => {
          output[name] += text;
          // Questions and login addresses must reach the person in front of the terminal.
          if (name === "stderr" && o.interactive) process.stderr.write(text);
        });
      }
      child.once("error", reject);
      child.once("close", (code) => resolve({ exitCode: code ?? 1, ...output }));
    });
}
