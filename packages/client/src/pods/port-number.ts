import { ConfigError } from "../meta/index.ts";

/** Checks a port's number. */
export function readPort(port: number): number {
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new ConfigError(`${JSON.stringify(port)} is not a port`, { hint: "ports are numbers from 1 to 65535" });
}
