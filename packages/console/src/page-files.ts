/**
 * The page's own files. They lie beside `src` and `dist` as they are served, so that the same relative address leads to
 * them from the sources and from the bundle. This module must stay directly in `src` for that.
 */
import { readFile } from "node:fs/promises";

/** A file to serve. */
export interface PageFile {
  readonly type: string;
  readonly content: Buffer;
}

const FILES: Readonly<Record<string, { readonly file: string; readonly type: string }>> = {
  "/": { file: "page.html", type: "text/html; charset=utf-8" },
  "/page.css": { file: "page.css", type: "text/css; charset=utf-8" },
  "/page.js": { file: "page.js", type: "text/javascript; charset=utf-8" },
  "/dom.js": { file: "dom.js", type: "text/javascript; charset=utf-8" },
  "/detail.js": { file: "detail.js", type: "text/javascript; charset=utf-8" },
  "/session.js": { file: "session.js", type: "text/javascript; charset=utf-8" },
  "/log.js": { file: "log.js", type: "text/javascript; charset=utf-8" },
  "/icon.svg": { file: "icon.svg", type: "image/svg+xml" },
};

/** The files by the path under which they are served. */
export async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const folder = new URL("../page/", import.meta.url);
  const read = Object.entries(FILES).map(async ([path, { file, type }]) => {
    return [path, { type, content: await readFile(new URL(file, folder)) }] as const;
  });
  return new Map(await Promise.all(read));
}
