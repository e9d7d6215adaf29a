import { renameSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * What Node.js programs load before anything else. Their connections go by no variable, so that it stands where all of
 * them begin: one to a Service by its name goes to the port of this machine that leads there. The table is read each time:
 * Services come and go while a program runs. Written for every Node.js that a pod may have.
 */
const HOOK = `"use strict";
const { readFileSync } = require("node:fs");
const { Socket } = require("node:net");
const { connect } = Socket.prototype;

function portOf(host, port) {
  try {
    return JSON.parse(readFileSync(process.env.LOTSE_SERVICES, "utf8"))[host.toLowerCase() + ":" + port];
  } catch {
    return undefined;
  }
}

Socket.prototype.connect = function (...args) {
  // Either (options), (port, host), or what net.connect() makes of both: a list.
  const given = Array.isArray(args[0]) ? args[0] : args;
  const [first, second] = given;
  const named = typeof first === "object" && first !== null;
  const { host, port } = named ? first : { host: second, port: first };
  const local = typeof host === "string" ? portOf(host, port) : undefined;
  if (local === undefined) return connect.apply(this, args);
  if (named) given[0] = { ...first, host: "127.0.0.1", port: local };
  else given.splice(0, 2, local, "127.0.0.1");
  return connect.apply(this, args);
};
`;

/** Puts the hook into a folder; returns the file. */
export function writeHook(folder: string): string {
  const file = path.join(folder, "services.cjs");
  writeFileSync(file, HOOK);
  return file;
}

/** Puts a table of Services where the hook reads it; a reader never sees half of it. */
export function writeTable(file: string, table: Readonly<Record<string, number>>): void {
  writeFileSync(`${file}.new`, JSON.stringify(table));
  renameSync(`${file}.new`, file);
}

/** The variables by which Node.js loads the hook and finds its table. */
export function hookVariables(hook: string, table: string): Record<string, string> {
  return { NODE_OPTIONS: `--require=${JSON.stringify(hook)}`, LOTSE_SERVICES: table };
}
