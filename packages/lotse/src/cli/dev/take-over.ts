/** `lotse dev --real` before whoever is deployed: peers give way by the priority, others are paused. */
import type { Client } from "@lotse/client";
import type { StartOptions } from "../../operator/index.ts";
import type { Logger } from "../../report/index.ts";
import type { LoadedOperator } from "../project/index.ts";
import { coordinationFor, type Precedence, precedenceOf } from "../run/index.ts";
import type { Io } from "../terminal/index.ts";

const FLAGS = { dev: true } as const;

/** What {@link TakeOver} is made of. */
interface TakeOverParts {
  readonly client: Client;
  readonly logger: Logger;
  readonly io: Io;
  readonly signal: AbortSignal;
}

/** See the module comment. Lasts over all reloads. */
export class TakeOver {
  readonly #precedence: Precedence;

  private constructor(precedence: Precedence) {
    this.#precedence = precedence;
  }

  /** On this cluster. */
  static async on(parts: TakeOverParts): Promise<TakeOver> {
    return new TakeOver(await precedenceOf({ ...parts, flags: FLAGS, command: "lotse dev", required: false }));
  }

  /** Resolves when the deployed processes of these operators have stopped. */
  begin(operators: readonly LoadedOperator[]): Promise<void> {
    return this.#precedence.take(operators.map(({ operator }) => operator));
  }

  /** How an operator is started so that it is the one that works. */
  startOf({ operator }: LoadedOperator): Pick<StartOptions, "coordination"> {
    const coordination = coordinationFor(operator.options?.coordination, FLAGS);
    return coordination === undefined ? {} : { coordination };
  }

  /** The deployed ones may go on. Never rejects. */
  end(): Promise<void> {
    return this.#precedence.end();
  }
}
