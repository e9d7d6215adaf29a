/** Label selectors inside of objects: what one selects that validation has not checked. */
import { type LabelSelector, type LabelSelectorInput, parseLabelSelector, SelectorError } from "@lotse/client/meta";
import { isRecord } from "./object.ts";

/** A selector of an object that is there already; undefined when it makes no sense: then it selects nothing. */
export function readSelector(selector: unknown): LabelSelector | undefined {
  if (!isRecord(selector)) return undefined;
  try {
    return parseLabelSelector(selector as LabelSelectorInput);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}
