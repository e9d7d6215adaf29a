/** `lotse retry`: what waits for its retry on an object, or has failed for good, is tried now. */
import { harmless } from "@lotse/client/meta";
import type { RetryAnswer } from "../../operator/index.ts";
import type { Io } from "../terminal/index.ts";
import { askOperators, namedObject, nobodyKnows } from "./ask-operators.ts";
import { stateText } from "./explain.ts";

/** The flags of `lotse retry`. */
export interface RetryOptions {
  readonly namespace?: string | undefined;
  readonly url?: string | undefined;
  readonly output?: "json" | undefined;
}

/** Asks the operators that know the object to try again, and tells which handlers do. */
export async function retry(kind: string, name: string, options: RetryOptions, io: Io): Promise<number> {
  const object = namedObject(kind, name, options.namespace);
  const nobody = () => nobodyKnows(object);
  const read = (answer: string) => (JSON.parse(answer) as { retries: readonly RetryAnswer[] }).retries;
  const retries = await askOperators({ path: "/retry", method: "POST", object, read, nobody }, options.url, io);
  if (options.output === "json") {
    io.stdout.write(`${JSON.stringify({ retries }, undefined, 2)}\n`);
    return 0;
  }
  const shown = `${kind} ${object.namespace ?? "default"}/${object.name}`;
  for (const { operator, handlers, elsewhere } of retries) {
    const text = elsewhere ? `${stateText("elsewhere", elsewhere)}; ask that one` : retryText(handlers);
    io.stdout.write(`${harmless(`${shown}: ${text} (${operator})`)}\n`);
  }
  return 0;
}

/** What becomes of one object. */
export function retryText(handlers: readonly string[]): string {
  return handlers.length === 0 ? "nothing waits for a retry" : `tried again now: ${handlers.join(", ")}`;
}
