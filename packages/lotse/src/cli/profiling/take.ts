/**
 * Records this very process. What it takes is imported when the first profile is asked for, and in here: a bundler would
 * have an import at the top of a file loaded at the start, however late the file itself is imported.
 */
import { Readable } from "node:stream";
import { type Clock, sleep } from "@lotse/client/meta";
import type { ProfileWish } from "./wish.ts";

/** Resolves when the profile is there, with its text; rejects when the signal aborts before. */
export async function take(wish: ProfileWish, clock: Clock, signal: AbortSignal): Promise<Readable> {
  if (wish.type === "cpu") return Readable.from([await cpuProfile(wish.ms, clock, signal)]);
  const { getHeapSnapshot } = await import("node:v8");
  return getHeapSnapshot();
}

/** By a session within the process: no port is opened, and no other process can connect. */
async function cpuProfile(ms: number, clock: Clock, signal: AbortSignal): Promise<string> {
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    await sleep(clock, ms, signal);
    const { profile } = await session.post("Profiler.stop");
    return JSON.stringify(profile);
  } finally {
    session.disconnect();
  }
}
