import {
  type LabelSelector,
  type LabelSelectorInput,
  matchesLabels,
  parseLabelSelector,
  SelectorError,
} from "@lotse/client/meta";
import type { ApiObject } from "../../registry/index.ts";
import { controllerOf, isDeleting } from "./tables.ts";

/** Which objects an owner manages, and which references have to change for that. */
export interface Claimed<T> {
  /** Managed after the changes: with those that are adopted, without those that are released. */
  readonly mine: readonly T[];
  readonly adopt: readonly T[];
  readonly release: readonly T[];
}

/**
 * Matches an owner with the objects that it might manage. What it manages and its selector no longer fits is released;
 * what fits and no controller manages is adopted, unless either is on its way out. Pure.
 */
export function claim<T extends ApiObject>(
  owner: ApiObject,
  candidates: readonly T[],
  matches: (labels: Readonly<Record<string, string>> | undefined) => boolean,
): Claimed<T> {
  const mine: T[] = [];
  const adopt: T[] = [];
  const release: T[] = [];
  for (const candidate of candidates) {
    const controller = controllerOf(candidate);
    const fits = matches(candidate.metadata.labels);
    if (controller) {
      if (controller.uid !== owner.metadata.uid) continue;
      if (fits) mine.push(candidate);
      else if (!isDeleting(owner)) release.push(candidate);
    } else if (fits && !isDeleting(owner) && !isDeleting(candidate)) {
      adopt.push(candidate);
      mine.push(candidate);
    }
  }
  return { mine, adopt, release };
}

/** What a selector in a spec asks for; undefined when it is missing, empty or makes no sense, and matches nothing. */
export function requirementsOf(selector: LabelSelectorInput | undefined): LabelSelector | undefined {
  try {
    const parsed = selector === undefined ? [] : parseLabelSelector(selector);
    return parsed.length === 0 ? undefined : parsed;
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** Whether labels are what a selector in a spec asks for. */
export function matcher(
  selector: LabelSelectorInput | undefined,
): (labels: Readonly<Record<string, string>> | undefined) => boolean {
  const requirements = requirementsOf(selector);
  return requirements ? (labels) => matchesLabels(requirements, labels) : () => false;
}
