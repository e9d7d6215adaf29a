import { StatusError } from "../registry/index.ts";
import type { Durability } from "../store/index.ts";
import type { ApiRequest, ApiResponse, StreamSink } from "./exchange.ts";
import { objectResponse, wantsPretty } from "./media/encode.ts";

type Handle = (request: ApiRequest) => Promise<ApiResponse>;

/**
 * Lets nothing out that could be taken back. Not even reads and watches tell of a write that is not safe yet: a client
 * that saw a version must never meet another object under the same one after a crash.
 */
export function durably(handle: Handle, durability: Durability): Handle {
  return async (request) => {
    // A store that has lost its disk was taken back to what is safe, and takes nothing new: reads go on.
    if (durability.frozen) return handle(request);
    const response = await handle(request);
    if (!durability.settled) {
      try {
        await durability.durable();
      } catch (error) {
        return unsafeAnswer(request, error);
      }
    }
    if (response.type !== "stream") return response;
    return { ...response, start: (sink) => response.start(durableSink(sink, durability)) };
  };
}

function unsafeAnswer(request: ApiRequest, error: unknown): ApiResponse {
  const message = `Internal error occurred: ${(error as Error).message}`;
  const status = new StatusError({ code: 500, reason: "InternalError", message }).toStatus();
  return objectResponse(500, status, { pretty: wantsPretty(request) });
}

function durableSink(sink: StreamSink, durability: Durability): StreamSink {
  /** What waits, in order; the end of the answer waits like everything else. */
  let waiting: (() => void)[] = [];
  const drain = async () => {
    while (waiting.length > 0) {
      const ready = waiting.length;
      try {
        await durability.durable();
        for (const step of waiting.splice(0, ready)) step();
      } catch {
        // The disk failed, or the connection is not what it was: the client finds its answer cut off.
        waiting = [];
        sink.reset();
        return;
      }
    }
  };
  const whenSafe = (step: () => void) => {
    if (waiting.length === 0 && durability.settled) return step();
    waiting.push(step);
    if (waiting.length === 1) void drain();
  };
  return {
    write: (chunk) => whenSafe(() => sink.write(chunk)),
    end: () => whenSafe(() => sink.end()),
    reset: () => sink.reset(),
  };
}
