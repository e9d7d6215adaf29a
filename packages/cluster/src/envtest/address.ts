import { EnvtestError } from "./errors.ts";
import type { FlagValues } from "./flags.ts";

const SECURE_PORT = 6443;

/** Where a program listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Where the API server shall listen. */
export function addressOf(flags: FlagValues): Address {
  const host = flags.last("bind-address") ?? "127.0.0.1";
  const port = Number(flags.last("secure-port") ?? SECURE_PORT);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new EnvtestError(`--secure-port ${flags.last("secure-port")} is no port`, "write a number from 1 to 65535");
  }
  return { host, port };
}

/** Why a program cannot listen, in words. */
export function cannotListen(error: NodeJS.ErrnoException, place: string): Error {
  if (error.code === "EADDRINUSE") {
    return new EnvtestError(
      `listen tcp ${place}: bind: address already in use`,
      "choose another port, or end whoever has it",
    );
  }
  return new EnvtestError(`listen tcp ${place}: ${error.message}`, "choose another address");
}
