/** How many pods may be missing, or too many, while a workload is updated. */

import { forbiddenField, invalidValue, notSupported, required, Verbatim } from "../../fields.ts";
import { numberOrPercent } from "../common.ts";
import { checkNotNegative, type Errors, type Fields, isSet, struct, text } from "../pod/index.ts";

const PERCENT = /^[0-9]+%$/;

/** The number in a count or a part. */
function amount(value: unknown): number {
  if (typeof value === "number") return value;
  return typeof value === "string"
    ? PERCENT.test(value)
      ? Number(value.slice(0, -1))
      : Number.parseInt(value, 10) || 0
    : 0;
}

function checkPart(value: unknown, path: string, errors: Errors): void {
  if (typeof value !== "string" || !PERCENT.test(value) || amount(value) <= 100) return;
  errors.push(invalidValue(path, value, "must not be greater than 100%"));
}

/** A strategy as errors print it: with the names of the server's own fields. */
export function strategyText(
  strategy: Fields,
  fields: readonly (readonly [own: string, name: string, zero: number | null])[],
): Verbatim {
  const rolling = struct(strategy.rollingUpdate);
  const own = rolling && Object.fromEntries(fields.map(([key, name, zero]) => [key, rolling[name] ?? zero]));
  return new Verbatim(JSON.stringify({ Type: text(strategy.type), RollingUpdate: own ?? null }));
}

const BOTH = [
  ["MaxUnavailable", "maxUnavailable", 0],
  ["MaxSurge", "maxSurge", 0],
] as const;

/** The strategy of a Deployment. */
export function checkDeploymentStrategy(strategy: Fields, path: string, errors: Errors): void {
  const rolling = struct(strategy.rollingUpdate);
  const here = `${path}.rollingUpdate`;
  if (strategy.type === "Recreate") {
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    if (rolling !== undefined) errors.push(forbiddenField(here, detail));
  } else if (strategy.type !== "RollingUpdate") {
    errors.push(notSupported(path, strategyText(strategy, BOTH), ["Recreate", "RollingUpdate"]));
  } else if (rolling === undefined) {
    errors.push(required(here, "this should be defaulted and never be nil"));
  } else {
    const { maxUnavailable, maxSurge } = rolling;
    errors.push(...numberOrPercent(maxUnavailable, `${here}.maxUnavailable`));
    errors.push(...numberOrPercent(maxSurge, `${here}.maxSurge`));
    if (amount(maxUnavailable) === 0 && amount(maxSurge) === 0) {
      errors.push(invalidValue(`${here}.maxUnavailable`, maxUnavailable ?? 0, "may not be 0 when `maxSurge` is 0"));
    }
    checkPart(maxUnavailable, `${here}.maxUnavailable`, errors);
  }
}

/** The strategy of a DaemonSet. */
export function checkDaemonStrategy(strategy: Fields, path: string, errors: Errors): void {
  if (strategy.type === "OnDelete") return;
  if (strategy.type !== "RollingUpdate") {
    errors.push(notSupported(path, strategyText(strategy, BOTH), ["RollingUpdate", "OnDelete"]));
    return;
  }
  const rolling = struct(strategy.rollingUpdate);
  const here = `${path}.rollingUpdate`;
  if (rolling === undefined) {
    errors.push(required(here));
    return;
  }
  const { maxUnavailable, maxSurge } = rolling;
  errors.push(...numberOrPercent(maxUnavailable, `${here}.maxUnavailable`));
  errors.push(...numberOrPercent(maxSurge, `${here}.maxSurge`));
  checkPart(maxUnavailable, `${here}.maxUnavailable`, errors);
  checkPart(maxSurge, `${here}.maxSurge`, errors);
  const missing = amount(maxUnavailable) !== 0;
  const extra = amount(maxSurge) !== 0;
  if (missing && extra) {
    errors.push(invalidValue(`${here}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero"));
  } else if (!missing && !extra) {
    errors.push(required(`${here}.maxUnavailable`, "cannot be 0 when maxSurge is 0"));
  }
}

const PARTITION = [
  ["Partition", "partition", 0],
  ["MaxUnavailable", "maxUnavailable", null],
] as const;

/** The strategy of a StatefulSet. */
export function checkStatefulStrategy(strategy: Fields, path: string, errors: Errors): void {
  const rolling = struct(strategy.rollingUpdate);
  const here = `${path}.rollingUpdate`;
  if (text(strategy.type) === "") errors.push(required(path));
  else if (strategy.type === "OnDelete") {
    if (rolling === undefined) return;
    const own = { Partition: rolling.partition ?? 0, MaxUnavailable: rolling.maxUnavailable ?? null };
    const detail = "only allowed for updateStrategy 'RollingUpdate'";
    errors.push(invalidValue(here, new Verbatim(JSON.stringify(own)), detail));
  } else if (strategy.type === "RollingUpdate") {
    if (rolling === undefined) return;
    checkNotNegative(rolling.partition, `${here}.partition`, errors);
    if (!isSet(rolling.maxUnavailable)) return;
    const field = `${here}.maxUnavailable`;
    errors.push(...numberOrPercent(rolling.maxUnavailable, field));
    if (amount(rolling.maxUnavailable) === 0) {
      errors.push(invalidValue(field, rolling.maxUnavailable, "cannot be 0"));
    }
    checkPart(rolling.maxUnavailable, field, errors);
  } else {
    const detail = "must be 'RollingUpdate' or 'OnDelete'";
    errors.push(invalidValue(path, strategyText(strategy, PARTITION), detail));
  }
}
