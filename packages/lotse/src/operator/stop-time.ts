/** How long an operator may take to stop, before it counts as one that does not come to its end. */
import {
  type Declarations,
  type OperatorOptions,
  planSettings,
  type SettingsPlan,
  settingsFor,
} from "../declare/index.ts";

/** Beyond the time of handlers, this much is for what they have done to be written down, and for the end itself. */
const MARGIN_MS = 5_000;

/** `settings.process.killAfter`, or what handlers may take and a margin; a daemon may ask for more time than others. */
export function stopLimitMs(
  { killAfterMs, gracefulMs, daemonGraceMs }: Pick<SettingsPlan, "killAfterMs" | "gracefulMs" | "daemonGraceMs">,
  { resources }: Pick<Declarations, "resources">,
): number {
  const graces = resources.flatMap(({ handlers }) =>
    handlers.flatMap((handler) => (handler.type === "daemon" ? (handler.graceMs ?? daemonGraceMs) : [])),
  );
  return killAfterMs ?? Math.max(gracefulMs, ...graces) + MARGIN_MS;
}

/** The same of an operator that does not run, as its options say. */
export function stopLimitOf(operator: Pick<Declarations, "resources"> & { readonly options: OperatorOptions }): number {
  return stopLimitMs(planSettings(settingsFor(operator.options)), operator);
}
