/** `lotse init`: a new project, the same that `npm create lotse` makes. */
import path from "node:path";
import type { Io } from "../terminal/index.ts";
import { Problem } from "../terminal/index.ts";
import { createProject, describeProject } from "./create.ts";
import { CreateError } from "./plan.ts";

/** The flags of `lotse init`. */
export interface InitOptions {
  readonly name?: string | undefined;
  readonly force?: boolean | undefined;
}

/** Creates the project in `folder`, the current one unless told. */
export async function init(folder: string | undefined, { name, force }: InitOptions, io: Io): Promise<number> {
  try {
    const created = await createProject({ folder: path.resolve(io.cwd, folder ?? "."), name, force });
    io.stdout.write(describeProject(io.cwd, created));
    return 0;
  } catch (cause) {
    if (cause instanceof CreateError) throw new Problem({ what: cause.message, todo: cause.hint }, { cause });
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw new Problem(
      { what: "the project cannot be written", why: message, todo: "check the folder and its permissions" },
      { cause },
    );
  }
}
