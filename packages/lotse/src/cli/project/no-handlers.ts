/**
 * An operator that declares nothing runs, and does nothing for ever: most often the file with its handlers was never
 * imported. That is no mistake that a command could be sure of, hence a warning.
 */
import type { Logger } from "../../report/index.ts";
import type { LoadedOperator } from "./load.ts";

/** What is said, and what to do. */
export const NO_HANDLERS = {
  message: "the operator has no handlers, so it will never do anything",
  hint: "declare one, or import the file that does: operator.on.create(Kind, function name() {})",
} as const;

/** Those among `operators` that declare nothing at all. */
export function withoutHandlers(operators: readonly LoadedOperator[]): LoadedOperator[] {
  return operators.filter(({ operator }) => {
    // Perhaps of another copy of the package, which knows fewer sorts of them.
    const { resources, activities, sources, schedules, admission, policies, conversions } = operator as Partial<
      typeof operator
    >;
    const lists = [resources, activities, sources, schedules, admission, policies];
    return lists.every((declared) => !declared?.length) && !conversions?.size;
  });
}

/** One warning for each operator that declares nothing. */
export function warnOfNoHandlers(operators: readonly LoadedOperator[], logger: Logger): void {
  for (const { operator, file } of withoutHandlers(operators)) {
    logger.warn(NO_HANDLERS.message, { operator: operator.name, file, hint: NO_HANDLERS.hint });
  }
}
