import {
  checkName,
  Declarations,
  type OperatorOptions,
  planCoordination,
  planSettings,
  settingsFor,
} from "../declare/index.ts";
import type { RunningOperator, StartOptions } from "./options.ts";
import { Runner } from "./runner.ts";

const BRAND = Symbol.for("lotse.Operator");

/**
 * An operator: what it watches and what it does about it. Declaring does no I/O; `lotse run`, `lotse dev` and
 * {@link Operator.start} set it to work.
 *
 * @example
 * ```ts
 * const operator = new Operator({ name: "exchange-rates" });
 * operator.on.create(ExchangeRate, async function publish({ spec, patch }) {
 *   patch.status.rate = await rateOf(spec.currency);
 * });
 * export default operator;
 * ```
 */
export class Operator extends Declarations {
  /** The operator's name: its mark on objects, so it has to stay the same over releases. */
  readonly name: string;
  readonly options: OperatorOptions;
  /** It can be started as a shadow. An operator of a copy of the package that knows of none would simply work. */
  readonly canShadow = true;
  readonly [BRAND] = true;

  constructor(options: OperatorOptions) {
    super();
    this.name = checkName(options?.name);
    for (const former of options.formerNames ?? []) checkName(former);
    this.options = options;
    // Wrong settings are found here, where they are written, and not when the operator starts.
    planSettings(settingsFor(options));
    planCoordination(options.coordination);
  }

  /**
   * Starts to work and returns at once; `ready` and `stopped` tell the rest. Any number of operators can run in one
   * process.
   *
   * @example
   * ```ts
   * await using running = operator.start({ client });
   * await running.ready;
   * ```
   */
  start(options: StartOptions = {}): RunningOperator {
    return new Runner(this, this.options, options);
  }
}

/** Whether `value` is an {@link Operator}, also one of another copy of the package. */
export function isOperator(value: unknown): value is Operator {
  return typeof value === "object" && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true;
}
