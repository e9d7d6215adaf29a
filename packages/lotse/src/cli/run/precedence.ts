/** A developer's process before deployed ones; see pause-deployed.ts. */
import type { Precedence, PrecedenceParts } from "./pause-deployed.ts";

export type { Precedence };

/** What has deployed operators pause. Loaded only where that is asked for. */
export async function precedenceOf(parts: PrecedenceParts): Promise<Precedence> {
  const { Precedence } = await import("./pause-deployed.ts");
  return new Precedence(parts);
}
