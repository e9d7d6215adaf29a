import { KubeError, type KubeErrorOptions } from "../meta/index.ts";

/**
 * Why a command in a container is an error: it ended with another code than 0 (`exit`), its time was over (`timeout`), it
 * was silent for too long (`idle`), it wrote more than was to be kept (`buffer`), the server could not run it (`server`),
 * the connection broke (`connection`), or it was given up here (`killed`).
 */
export type ExecFailure = "exit" | "timeout" | "idle" | "buffer" | "server" | "connection" | "killed";

interface ExecErrorInit extends KubeErrorOptions {
  failure: ExecFailure;
  exitCode: number | undefined;
  command: readonly string[];
  container: string | undefined;
  stdout?: string | Buffer;
  stderr?: string | Buffer;
}

/**
 * A command in a container failed. What it had written until then is here too.
 *
 * @example
 * ```ts
 * try {
 *   await pod.exec(["false"]);
 * } catch (error) {
 *   if (error instanceof ExecError) console.error(error.exitCode, String(error.stderr));
 * }
 * ```
 */
export class ExecError extends KubeError {
  override readonly code: string = "LOTSE_EXEC";
  readonly failure: ExecFailure;
  /** `undefined` when the command did not come to its end. */
  readonly exitCode: number | undefined;
  /** Bytes with `encoding: "buffer"`; empty for a command whose output was not captured. */
  readonly stdout: string | Buffer;
  readonly stderr: string | Buffer;
  readonly command: readonly string[];
  readonly container: string | undefined;

  constructor(message: string, init: ExecErrorInit) {
    super(message, init);
    this.failure = init.failure;
    this.exitCode = init.exitCode;
    this.stdout = init.stdout ?? "";
    this.stderr = init.stderr ?? "";
    this.command = init.command;
    this.container = init.container;
  }
}

/** The connection to a port of a pod could not be made, or ended before its time. */
export class ConnectionClosedError extends KubeError {
  override readonly code: string = "LOTSE_CONNECTION_CLOSED";
  /** The port in the pod. */
  readonly port: number;

  constructor(message: string, init: KubeErrorOptions & { port: number }) {
    super(message, init);
    this.port = init.port;
  }
}

/** The container did not start in time, or will never run again. */
export class ContainerNotRunningError extends KubeError {
  override readonly code: string = "LOTSE_CONTAINER_NOT_RUNNING";
}

/** A file or folder could not be copied to or from a container, or its archive is damaged. */
export class CopyError extends KubeError {
  override readonly code: string = "LOTSE_COPY";
}
