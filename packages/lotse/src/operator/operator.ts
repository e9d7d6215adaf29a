import { Declarations } from "../declare/index.ts";
import { checkName, type OperatorSettings, Runner, type RunningOperator, type StartOptions } from "./runner.ts";

const BRAND = Symbol.for("lotse.Operator");

/**
 * An operator: what it watches and what it does about it. Declaring does no I/O; `lotse run`, `lotse dev` and
 * {@link Operator.start} set it to work.
 *
 * @example
 * ```ts
 * const operator = new Operator({ name: "exchange-rates" });
 * operator.on.create(ExchangeRate, async ({ spec, patch }) => { patch.status.rate = await rateOf(spec.currency); });
 * export default operator;
 * ```
 */
export class Operator extends Declarations {
  /** The operator's name: its mark on objects, so it has to stay the same over releases. */
  readonly name: string;
  readonly settings: OperatorSettings;
  readonly [BRAND] = true;

  constructor(settings: OperatorSettings) {
    super();
    this.name = checkName(settings?.name);
    this.settings = settings;
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
    return new Runner(this, this.settings, options);
  }
}

/** Whether `value` is an {@link Operator}, also one of another copy of the package. */
export function isOperator(value: unknown): value is Operator {
  return typeof value === "object" && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true;
}
