/** `lotse profile`: what a running operator spends its time or its memory on, as a file for the tools that show it. */
import { createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { Writable } from "node:stream";
import { formatDuration, harmless } from "@lotse/client/meta";
import { type ConnectOptions, confirmContext, connect } from "../connect/index.ts";
import { OPEN, type ProfileWish, profileName, USUAL_WISH } from "../profiling/index.ts";
import type { Io } from "../terminal/index.ts";
import { Problem, stopOnSignal } from "../terminal/index.ts";
import { profilePod } from "./in-pod.ts";
import { onlyProcess, profileProcess } from "./local.ts";

/** The flags of `lotse profile`. */
export interface ProfileOptions extends ConnectOptions {
  /** Milliseconds. */
  readonly cpu?: number | undefined;
  readonly heap?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly out?: string | undefined;
  readonly namespace?: string | undefined;
  readonly container?: string | undefined;
  readonly yes?: boolean | undefined;
  readonly output?: "json" | undefined;
}

/** Gets the profile of a process or a pod, and keeps it in a file. */
export async function profile(target: string | undefined, options: ProfileOptions, io: Io): Promise<number> {
  const wish = wishOf(options);
  const who = whoIs(target, io);
  const name = profileName("pid" in who ? `lotse-${who.pid}` : who.pod, wish, Date.now());
  const file = path.resolve(io.cwd, options.out ?? name);
  const stop = stopOnSignal(io);
  try {
    const length = wish.type === "cpu" ? `, it takes ${formatDuration(wish.ms)}` : "";
    io.stderr.write(`Profiling ${"pid" in who ? `the process ${who.pid}` : `the pod ${who.pod}`}${length}\n`);
    const fetch = (into: () => Writable) =>
      "pid" in who
        ? profileProcess(who.pid, wish, into, io, stop.signal)
        : fromPod(who.pod, wish, options, into, io, stop.signal);
    await keep(file, fetch);
  } catch (error) {
    if (stop.signal.aborted) return 0;
    throw error;
  } finally {
    stop[Symbol.dispose]();
  }
  const { size: bytes } = await stat(file);
  const shown = path.relative(io.cwd, file) || file;
  if (options.output === "json") io.stdout.write(`${JSON.stringify({ file, type: wish.type, bytes })}\n`);
  else io.stdout.write(`${harmless(shown)}\n`);
  if (options.output !== "json") io.stderr.write(`To look at it: ${OPEN}\n`);
  return 0;
}

function wishOf({ cpu, heap, force = false }: ProfileOptions): ProfileWish {
  if (!heap) return cpu === undefined ? USUAL_WISH : { type: "cpu", ms: cpu };
  if (cpu === undefined) return { type: "heap", force };
  throw new Problem({ what: "--cpu and --heap exclude each other", todo: "leave one of them out" }, { exitCode: 2 });
}

/** A number is a process of this machine, any other name a pod: `pod/123` is one, too. */
function whoIs(target: string | undefined, io: Io): { readonly pid: number } | { readonly pod: string } {
  if (target === undefined) return { pid: onlyProcess(io) };
  if (/^\d+$/.test(target)) return { pid: Number(target) };
  const pod = target.replace(/^pods?\//, "");
  if (/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(pod)) return { pod };
  throw new Problem(
    {
      what: `${JSON.stringify(target)} is neither a process nor a pod`,
      todo: "name a process by its number, or a pod: lotse profile POD -n NAMESPACE",
    },
    { exitCode: 2 },
  );
}

async function fromPod(
  pod: string,
  wish: ProfileWish,
  options: ProfileOptions,
  into: () => Writable,
  io: Io,
  signal: AbortSignal,
): Promise<void> {
  const { client, context } = await connect(options, io, (text) => io.stderr.write(`Warning: ${harmless(text)}\n`));
  try {
    await confirmContext(context, options.yes, io, signal);
    const namespace = options.namespace ?? client.namespace;
    await profilePod(client, { pod, namespace, container: options.container, wish, signal }, into);
  } finally {
    await client.close();
  }
}

/** What is there only in part must not be taken for a profile. A heap has secrets in it: the file is for its user alone. */
async function keep(file: string, fetch: (into: () => Writable) => Promise<void>): Promise<void> {
  const part = `${file}.part`;
  try {
    await fetch(() => createWriteStream(part, { mode: 0o600 }));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
