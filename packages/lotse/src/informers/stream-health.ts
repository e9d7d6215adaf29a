/** How the streams of a kind are, in the words of probes and metrics. */
import type { KindDescription, StreamState } from "@lotse/client";
import { errorMessage } from "@lotse/client/meta";
import type { StreamHealth } from "../report/index.ts";

/** What is asked of an informer. */
interface Stream {
  readonly stream: StreamState | undefined;
  readonly heardAt: number | undefined;
  readonly size: number;
}

/** How the stream of one scope is; `now` is monotonic. */
export function streamHealth(
  kind: KindDescription,
  namespace: string | undefined,
  informer: Stream,
  now: number,
): StreamHealth {
  const { phase: reported = "listing", since = now, error } = informer.stream ?? {};
  // A closed stream is one that is being moved to another version of its kind: it lists again at once.
  const phase = reported === "closed" ? "listing" : reported;
  const { hint } = (error ?? {}) as { hint?: string };
  return {
    kind: kind.kind,
    ...(namespace !== undefined && { namespace }),
    phase,
    forMs: now - since,
    quietMs: now - (informer.heardAt ?? now),
    objects: informer.size,
    ...(phase === "waiting" && { error: errorMessage(error), hint }),
  };
}

/** The same of a stream that only helps to know sooner what is found out anyway. */
export function sideStreamHealth(kind: KindDescription, stream: Stream, now: number): StreamHealth {
  return { ...streamHealth(kind, undefined, stream, now), optional: true };
}
