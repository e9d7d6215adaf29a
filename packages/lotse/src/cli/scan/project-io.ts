import type { ModuleLoader } from "../project/index.ts";
import type { Io } from "../terminal/index.ts";
import type { scanOperator } from "./scan.ts";

/** How the user's files come into the process, and how their code is read. */
export interface CodeAccess {
  readonly loader?: Pick<ModuleLoader, "load">;
  readonly scan?: typeof scanOperator;
}

/** What a command touches that loads the user's files and reads their code. */
export interface ProjectIo extends Io {
  /** Default: anew for each command. */
  readonly code?: CodeAccess | undefined;
}
