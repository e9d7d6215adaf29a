import { KubeError } from "@lotse/client";
import { ORACLES, type OracleName } from "./options.ts";

/** A promise that was broken. */
export interface Violation {
  readonly oracle: OracleName;
  /** What was seen. */
  readonly what: string;
  /** What to do about it. */
  readonly todo: string;
}

const MOST = 5;

/**
 * What a harness throws at its end when the operator has broken a promise that every test checks.
 *
 * @example
 * ```ts
 * const broken = await harness.stop().then(() => [], (error: OracleError) => error.violations);
 * ```
 */
export class OracleError extends KubeError {
  override readonly name = "OracleError";
  readonly violations: readonly Violation[];

  constructor(violations: readonly Violation[]) {
    super(textOf(violations));
    this.violations = violations;
  }
}

function textOf(violations: readonly Violation[]): string {
  const names = [...new Set(violations.map(({ oracle }) => oracle))];
  const lines = names.flatMap((name) => {
    const found = violations.filter(({ oracle }) => oracle === name);
    return [
      `oracle ${name}: ${ORACLES[name]}, but`,
      ...found.slice(0, MOST).map(({ what }) => `  ${what.replaceAll("\n", "\n  ")}`),
      ...(found.length > MOST ? [`  … and ${found.length - MOST} more`] : []),
      `  ${found[0]?.todo}; where it is meant to be so: { oracles: { ${name}: "off: <why>" } }`,
    ];
  });
  return lines.join("\n");
}
