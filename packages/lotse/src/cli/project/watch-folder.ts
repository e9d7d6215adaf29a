import { watch } from "node:fs";
import { type Clock, systemClock } from "@lotse/client/meta";

/** Editors write a file in several steps; one save should be one call. */
const SETTLED_MS = 100;

/** Whether a change of this file can change what an operator does. */
export function isSource(name: string): boolean {
  return /\.(?:[cm]?[jt]sx?|json)$/.test(name) && !/\.(?:test|spec)\.[cm]?[jt]sx?$/.test(name) && !name.startsWith(".");
}

/**
 * Calls `changed` when a source file in `folder` was saved; the returned function ends it. The folder is watched and not
 * the file: many editors save by putting a new file in the place of the old one.
 */
export function watchFolder(folder: string, changed: (name: string) => void, clock: Clock = systemClock): () => void {
  let cancel: (() => void) | undefined;
  const watcher = watch(folder, { persistent: false }, (_event, name) => {
    if (name === null || !isSource(name)) return;
    cancel?.();
    cancel = clock.after(SETTLED_MS, () => changed(name));
  });
  // A folder that is taken away cannot be watched any more; what runs goes on without it.
  watcher.on("error", () => watcher.close());
  return () => {
    cancel?.();
    watcher.close();
  };
}
