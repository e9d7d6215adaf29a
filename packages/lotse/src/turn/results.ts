/** What handlers return, and that it has no room where the kind's schema has none. */
import type { KubeBody } from "@lotse/client";
import type { JsonObject } from "@lotse/client/meta";
import type { Logger } from "../report/index.ts";
import type { KindWork } from "./kind-work.ts";

/** A merge patch that sets `status.<id>`. */
export function resultPatch(id: string, result: unknown): JsonObject {
  return { status: { [id]: JSON.parse(JSON.stringify(result)) } };
}

/** Said once for each handler of a kind: it is the same for all objects. */
export function reportNoRoom(
  work: KindWork,
  handler: { readonly id: string; readonly sourceLocation: string | undefined },
  body: KubeBody,
  logger: Logger,
): void {
  const what = `no room for ${handler.id}`;
  if (work.reporting.saidOnce.has(what)) return;
  work.reporting.saidOnce.add(what);
  logger.warn("what the handler returns is not kept, the kind's status has no field for it", {
    handler: handler.id,
    at: handler.sourceLocation,
    hint: `add ${handler.id} to the schema of the status, or return nothing`,
  });
  const message = `what ${handler.id} returns is not kept: the status of ${work.kind.kind} has no field "${handler.id}"`;
  work.reporting.post(body, "Warning", "ResultNotKept", message);
}

/**
 * Whether a function says `return` with something behind it, outside of the functions in it. An arrow without braces
 * returns whatever its expression gives, wanted or not, and is not meant.
 */
export function returnsValue(fn: (...args: never[]) => unknown): boolean {
  const source = withoutTexts(Function.prototype.toString.call(fn));
  const start = bodyStart(source);
  if (start < 0) return false;
  // For each open brace, whether it begins a function.
  const braces: boolean[] = [];
  for (const { 0: token, index } of source.slice(start).matchAll(/[{}]|\breturn\b(?!\s*[;}])/g)) {
    if (token === "}") braces.pop();
    else if (token === "{") braces.push(braces.length > 0 && beginsFunction(source.slice(0, start + index)));
    else if (!braces.includes(true)) return true;
  }
  return false;
}

/** Strings, templates, regular expressions and comments, whose words are none of the program's. */
function withoutTexts(source: string): string {
  return source.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g,
    (text) => (text.startsWith("/") ? " " : '""'),
  );
}

/** Where the brace of the function's own body is; -1 for an arrow without one. */
function bodyStart(source: string): number {
  let depth = 0;
  for (let at = 0; at < source.length; at++) {
    const sign = source[at] as string;
    if ("([".includes(sign) || (sign === "{" && depth > 0)) depth++;
    else if (")]".includes(sign) || (sign === "}" && depth > 0)) depth--;
    else if (depth === 0 && sign === "{") return at;
    else if (depth === 0 && source.startsWith("=>", at))
      return /^=>\s*\{/.test(source.slice(at)) ? source.indexOf("{", at) : -1;
  }
  return -1;
}

/** Whether the brace after this text begins the body of a function, a method or an accessor. */
function beginsFunction(before: string): boolean {
  if (/=>\s*$/.test(before)) return true;
  if (!/\)\s*$/.test(before)) return false;
  const head = headOf(before.trimEnd());
  return !/\b(?:if|for|while|switch|catch|with)\s*(?:await\s*)?$/.test(head);
}

/** What comes before the parentheses that end here. */
function headOf(text: string): string {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at--) {
    if (text[at] === ")") depth++;
    else if (text[at] === "(" && --depth === 0) return text.slice(0, at);
  }
  return "";
}
