// What the programs of this folder are told on their command line.
import { parseArgs } from "node:util";
import { Failure } from "../../scripts/process.mjs";

/** `options` as Node.js' parseArgs takes them. `number` reads one of them as a number from 1 up. */
export function readArguments(options) {
  let values;
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new Failure(error.message, 2);
  }
  const number = (name, usual) => {
    const value = Number(values[name] ?? usual);
    if (!Number.isInteger(value) || value < 1) throw new Failure(`--${name} takes a number from 1 up.`, 2);
    return value;
  };
  return { values, number };
}

export const text = { type: "string" };
export const flag = { type: "boolean", default: false };
