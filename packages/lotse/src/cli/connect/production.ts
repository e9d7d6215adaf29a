/** A second look before a user works on production from a terminal by accident. */
import type { Io } from "../terminal/index.ts";
import { Problem } from "../terminal/index.ts";

const PRODUCTION = /(^|[^a-z])(prod|production|prd|live)([^a-z]|$)/i;

/** Whether a context's name sounds like production: `prod-eu`, `gke_shop_production`, not `product-tests`. */
export function looksLikeProduction(context: string | undefined): boolean {
  return context !== undefined && PRODUCTION.test(context);
}

/** Asks at a keyboard, when the context looks like production and the user has not said yes already; else passes. */
export async function confirmContext(
  context: string | undefined,
  yes: boolean | undefined,
  io: Io,
  signal: AbortSignal,
): Promise<void> {
  if (yes || !io.onKey || !looksLikeProduction(context)) return;
  io.stderr.write(`The context ${context} looks like production. Press y to go on, any other key to stop.\n`);
  const key = await keyPressed(io.onKey, signal);
  if (key?.toLowerCase() === "y") return;
  throw new Problem({
    what: "stopped before anything was done",
    why: `the context ${context} looks like production`,
    todo: "choose another with --context, or say --yes",
  });
}

function keyPressed(onKey: NonNullable<Io["onKey"]>, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const release = onKey((key) => end(key));
    const end = (key: string | undefined) => {
      release();
      resolve(key);
    };
    signal.addEventListener("abort", () => end(undefined), { once: true });
  });
}
