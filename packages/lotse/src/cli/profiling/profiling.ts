/**
 * Profiles of this process, whoever asks for one: a user of `lotse profile` by the process's own socket, which gets it as
 * the answer, or SIGUSR2, which has it written to a file. One at a time. What records them is loaded when it is needed.
 */
import { createWriteStream } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import os from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Clock, errorMessage, formatDuration } from "@lotse/client/meta";
import { type Besides, COMMAND_HEADER, type Logger } from "../../report/index.ts";
import type { Io } from "../terminal/index.ts";
import { take } from "./take.ts";
import { lackOfMemory, PROFILE_PATH, type ProfileWish, profileName, USUAL_WISH, wishIn } from "./wish.ts";

/** What profiles are made with. */
export interface ProfilingParts {
  readonly logger: Logger;
  readonly clock: Clock;
}

/** See the module comment. */
export class Profiling {
  readonly #parts: ProfilingParts;
  #busy = false;

  constructor(parts: ProfilingParts) {
    this.#parts = parts;
  }

  /** Answers those who ask at the socket: only its user can. */
  readonly besides: Besides = (request, response) => {
    const { url = "/" } = request;
    if (!url.startsWith(PROFILE_PATH)) return false;
    const { pathname, searchParams } = new URL(url, "http://localhost");
    if (pathname !== PROFILE_PATH) return false;
    // Cannot reject.
    void this.#answer(request, response, wishIn(searchParams));
    return true;
  };

  /** Writes a profile into a folder at each SIGUSR2; the returned function ends it. */
  onSignal(io: Pick<Io, "onProfileSignal" | "env">, folder: string | undefined): () => void {
    // Cannot reject.
    return io.onProfileSignal(() => void this.#write(USUAL_WISH, folder ?? (io.env.TMPDIR || os.tmpdir())));
  }

  async #answer(request: IncomingMessage, response: ServerResponse, wish: ProfileWish | undefined): Promise<void> {
    const say = (status: number, text: string) =>
      void response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${text}\n`);
    if (request.method !== "POST" || request.headers[COMMAND_HEADER] === undefined) {
      return say(405, "only a POST of lotse profile is answered here");
    }
    if (!wish) return say(400, "ask for /profile?cpu=10s or /profile?heap");
    if (this.#busy) return say(409, BUSY);
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    try {
      const lack =
        wish.type === "heap" && !wish.force ? lackOfMemory(process.memoryUsage().heapUsed, freeBytes()) : undefined;
      if (lack !== undefined) return say(507, lack);
      await this.#take(wish, gone.signal, async (profile) => {
        response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
        await pipeline(profile, response);
      });
    } catch (error) {
      if (gone.signal.aborted) this.#parts.logger.info("nobody waits for the profile any more, it is given up");
      else if (response.headersSent) response.destroy();
      else say(500, errorMessage(error));
    }
  }

  async #write(wish: ProfileWish, folder: string): Promise<void> {
    const { logger, clock } = this.#parts;
    if (this.#busy) return logger.warn(BUSY, { hint: "send the signal again when that one is done" });
    const file = path.join(folder, profileName(`lotse-${process.pid}`, wish, clock.now()));
    try {
      await this.#take(wish, new AbortController().signal, async (profile) => {
        // A file of its own that only its user can read, also where others could have put something in its place.
        await pipeline(profile, createWriteStream(file, { flags: "wx", mode: 0o600 }));
      });
      logger.info("the profile is written", { file, hint: OPEN });
    } catch (error) {
      const hint = "name a folder that can be written to with --profile-folder";
      logger.error("the profile could not be written", { file, error: errorMessage(error), hint });
    }
  }

  async #take(wish: ProfileWish, signal: AbortSignal, use: (profile: Readable) => Promise<void>): Promise<void> {
    const { logger, clock } = this.#parts;
    this.#busy = true;
    try {
      if (wish.type === "cpu") logger.info("a CPU profile is made", { for: formatDuration(wish.ms) });
      else logger.warn("a heap snapshot is made, nothing else runs meanwhile");
      await use(await take(wish, clock, signal));
    } finally {
      this.#busy = false;
    }
  }
}

/** Within the limit of the pod, where there is one; Node.js before 20.13 does not know it. */
function freeBytes(): number {
  const { availableMemory } = process as { availableMemory?: () => number };
  return availableMemory?.() ?? os.freemem();
}

const BUSY = "a profile is being made already";

/** What to do with a profile. */
export const OPEN = "open it in the developer tools of a browser (Performance, Memory), or in an editor";
