/** The API server out of the pack that lies beside the program: with the code that was compiled for it in an earlier run. */
import { join } from "node:path";
import { CodeCache, codeFolder, openPack, type Pack } from "../compiled/index.ts";
import type * as apiServer from "./apiserver.ts";

declare const __dirname: string;

/** Opens the pack, with the cache of the user who runs this. */
export function packBeside(env: Readonly<Record<string, string | undefined>>): Pack {
  const folder = codeFolder(env);
  return openPack(join(__dirname, "pack"), { cache: folder === undefined ? undefined : new CodeCache(folder) });
}

/** What the pack has for the programs. */
export type ApiServerModule = typeof apiServer;

/** The entry of the pack that is the API server. */
export const API_SERVER_ENTRY = "apiserver";
