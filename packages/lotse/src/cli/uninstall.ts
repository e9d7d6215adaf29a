/** `lotse uninstall`: takes the operators' marks off all objects. */
import { harmless } from "@lotse/client/meta";
import { uninstallOperator } from "../install/index.ts";
import { isOperator } from "../operator/index.ts";
import { type ConnectOptions, confirmContext, connect } from "./connect/index.ts";
import { loadOperators, resolveFiles } from "./project/index.ts";
import type { Io } from "./terminal/index.ts";
import { stopOnSignal } from "./terminal/index.ts";

/** The flags of `lotse uninstall`. */
export interface UninstallOptions extends ConnectOptions {
  readonly namespace?: readonly string[] | undefined;
  readonly dryRun?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly output?: "json" | undefined;
}

/** See the module comment. */
export async function uninstall(files: readonly string[], options: UninstallOptions, io: Io): Promise<number> {
  const operators = await loadOperators(resolveFiles(files, io.cwd, "uninstall"), io.cwd);
  const stop = stopOnSignal(io);
  const { client, server, context } = await connect(options, io, (text) =>
    io.stderr.write(`Warning: ${harmless(text)}\n`),
  );
  try {
    if (!options.dryRun) await confirmContext(context, options.yes, io, stop.signal);
    let count = 0;
    for (const { operator } of operators.filter(({ operator }) => isOperator(operator))) {
      const { namespace: namespaces, dryRun } = options;
      for await (const one of uninstallOperator(operator, client, { namespaces, dryRun, signal: stop.signal })) {
        count++;
        const { kind, namespace, name, marks } = one;
        const shown = `${kind.plural}${kind.group === "" ? "" : `.${kind.group}`} ${namespace ? `${namespace}/` : ""}${name}`;
        io.stdout.write(
          options.output === "json"
            ? `${JSON.stringify({ operator: operator.name, kind: kind.kind, namespace, name, marks, dryRun: dryRun === true })}\n`
            : `${harmless(shown)}: ${marks.join(" and ")} of ${operator.name} ${dryRun ? "would be taken off" : "taken off"}\n`,
        );
      }
    }
    if (options.output !== "json") {
      const objects = `${count} ${count === 1 ? "object" : "objects"}`;
      io.stdout.write(
        options.dryRun
          ? `${objects} at ${server} would change; nothing was done\n`
          : `${objects} at ${server} changed\n`,
      );
    }
    return 0;
  } finally {
    stop[Symbol.dispose]();
    await client.close();
  }
}
