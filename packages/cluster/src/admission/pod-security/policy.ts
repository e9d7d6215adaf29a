import { deepEqual } from "@lotse/client/meta";
import { type FieldError, invalidValue } from "../../registry/index.ts";
import { PREFIX } from "../pod-levels.ts";

/** How much a namespace lets its pods do, from everything to little. */
export type Level = "privileged" | "baseline" | "restricted";

/** A level as it was in a minor version of Kubernetes; `undefined` is that of the newest. */
export interface LevelVersion {
  readonly level: Level;
  readonly minor: number | undefined;
}

/** What a namespace asks for: what is refused, what is noted, and what is warned about. */
export interface Policy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}

const LEVELS: readonly Level[] = ["privileged", "baseline", "restricted"];
const ANYTHING: LevelVersion = { level: "privileged", minor: undefined };

/** `baseline:v1.30`, as sentences name it. */
export function shownLevel({ level, minor }: LevelVersion): string {
  return `${level}:${minor === undefined ? "latest" : `v1.${minor}`}`;
}

/** More than 0 when the first is the stricter one. */
export function compareLevels(a: Level, b: Level): number {
  return LEVELS.indexOf(a) - LEVELS.indexOf(b);
}

/**
 * The policy of a namespace with these labels, and what is wrong with them. An unknown level is the strictest where it
 * refuses.
 */
export function policyOf(labels: Readonly<Record<string, string>> = {}): { policy: Policy; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const read = (
    mode: string,
    unknown: Level,
  ): LevelVersion & { stated: boolean; wrong: boolean; versioned: boolean } => {
    const name = labels[PREFIX + mode];
    const version = labels[`${PREFIX}${mode}-version`];
    const level = LEVELS.find((known) => known === name);
    const wrong = name !== undefined && level === undefined;
    if (wrong) errors.push(wrongLabel(mode, name, `must be one of ${LEVELS.join(", ")}`));
    const minor = version === undefined ? undefined : minorOf(version);
    if (minor === null) errors.push(wrongLabel(`${mode}-version`, version, 'must be "latest" or "v1.x"'));
    return {
      level: level ?? (wrong ? unknown : "privileged"),
      minor: minor ?? undefined,
      stated: name !== undefined,
      versioned: version !== undefined,
      wrong,
    };
  };
  const enforce = read("enforce", "restricted");
  const audit = read("audit", "privileged");
  const warn = read("warn", "privileged");
  // What is refused is warned about, where the templates of pods are written.
  const follows = !warn.stated && enforce.stated && !enforce.wrong && compareLevels(enforce.level, warn.level) > 0;
  const policy: Policy = {
    enforce: plain(enforce),
    audit: plain(audit),
    warn: follows ? { level: enforce.level, minor: warn.versioned ? warn.minor : enforce.minor } : plain(warn),
  };
  return { policy, errors };
}

/** Whether a policy refuses, notes and warns about nothing. */
export function allowsAnything(policy: Policy): boolean {
  return Object.values(policy).every(({ level }: LevelVersion) => level === ANYTHING.level);
}

/** Whether two readings of labels found the same mistakes. */
export function sameMistakes(a: readonly FieldError[], b: readonly FieldError[]): boolean {
  return deepEqual(a, b);
}

const plain = ({ level, minor }: LevelVersion): LevelVersion => ({ level, minor });

const wrongLabel = (label: string, value: string | undefined, detail: string): FieldError =>
  invalidValue(`metadata.labels[${PREFIX}${label}]`, value, detail);

/** The minor of `v1.30`; undefined for the newest, null when it is neither. */
function minorOf(version: string): number | undefined | null {
  if (version === "latest") return undefined;
  const minor = /^v1\.(0|[1-9][0-9]*)$/.exec(version)?.[1];
  return minor === undefined || !Number.isSafeInteger(Number(minor)) ? null : Number(minor);
}
