/** What is to be recorded of a process, and how it is asked for. Pure. */
import { durationMs } from "@lotse/client/meta";

/** `cpu`: what it spends its time on, for so long · `heap`: everything that is in its memory. */
export type ProfileWish =
  | { readonly type: "cpu"; readonly ms: number }
  /** `force`: also where the memory may not be enough for it. */
  | { readonly type: "heap"; readonly force?: boolean };

/** Without a word about it. */
export const USUAL_WISH: ProfileWish = { type: "cpu", ms: 10_000 };

/** A profile is kept in the memory of the process until it is done. */
const LONGEST_MS = 600_000;

/** The names by which tools know the files. */
const EXTENSIONS = { cpu: "cpuprofile", heap: "heapsnapshot" } as const;

/** A name for the file of a profile, which no other profile has. */
export function profileName(who: string, { type }: ProfileWish, now: number): string {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+Z$/g, "");
  return `${who}-${time}.${EXTENSIONS[type]}`;
}

/** A duration that can be recorded, in milliseconds; undefined when it is none. */
export function recordedMs(text: string): number | undefined {
  try {
    const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : durationMs(text);
    return ms > 0 && ms <= LONGEST_MS ? ms : undefined;
  } catch {
    return undefined;
  }
}

/** Where profiles are asked for, at the socket of a process. */
export const PROFILE_PATH = "/profile";

/** The question, as it is sent. */
export function questionFor(wish: ProfileWish): string {
  if (wish.type === "cpu") return `${PROFILE_PATH}?cpu=${wish.ms}ms`;
  return `${PROFILE_PATH}?heap${wish.force ? "&force" : ""}`;
}

/** The wish in a question; undefined when it makes no sense. */
export function wishIn(query: URLSearchParams): ProfileWish | undefined {
  if (query.has("heap")) return { type: "heap", ...(query.has("force") && { force: true }) };
  const ms = recordedMs(query.get("cpu") ?? "");
  return ms === undefined ? undefined : { type: "cpu", ms };
}

/** So many times the heap a snapshot of it needs, where the heap is full of small objects: measured, from 4 to 150 MB. */
const TIMES = 13;

/** Why a heap snapshot would rather end the process than show it; undefined when there is room. In bytes. */
export function lackOfMemory(heapUsed: number, available: number): string | undefined {
  const needed = heapUsed * TIMES;
  if (needed <= available) return undefined;
  return `it may need ${megabytes(needed)} of memory, and ${megabytes(available)} are free`;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
