/** What `lotse run` says before it begins: where it runs, as whom, and what. */
import type { Logger } from "../../report/index.ts";
import type { Connection } from "../connect/index.ts";
import { kindNames, type LoadedOperator } from "../project/index.ts";
import {
  type AnnouncedLine,
  announce,
  type Io,
  type LogOptions,
  logFormatOf,
  wantsColours,
} from "../terminal/index.ts";
import { type ShadowFlags, type ShadowRun, shadowLine } from "./shadow.ts";

/** What is to be announced. */
export interface AnnouncedRun {
  readonly operators: readonly LoadedOperator[];
  readonly connection: Connection;
  readonly namespaces: readonly string[] | undefined;
  readonly options: LogOptions & ShadowFlags;
  readonly shadow: ShadowRun | undefined;
}

/** See the module comment. In the log where that is for programs, and nowhere where the output is. */
export function announceRun(
  { operators, connection, namespaces, options, shadow }: AnnouncedRun,
  logger: Logger,
  io: Io,
) {
  const { server, context, user, version } = connection;
  const asShadow = shadow && shadowLine(shadow, operators);
  if (logFormatOf(io, options) === "json") {
    logger.info("connected to the cluster", { server, context, user, version });
    for (const { file, operator } of operators) {
      logger.info("starting the operator", {
        operator: operator.name,
        file,
        kinds: kindNames(operator),
        namespaces: namespaces ?? "all",
        ...(asShadow !== undefined && { shadow: asShadow }),
      });
    }
    return;
  }
  if (options.output === "json") return;
  const lines: AnnouncedLine[] = [
    ["cluster", [server, context && `context ${context}`, version].filter(Boolean).join(", ")],
    ["identity", user ?? "not told by the cluster"],
    ["namespaces", namespaces?.join(", ") ?? "all"],
    ...operators.map(
      ({ operator }): AnnouncedLine => [operators.length > 1 ? operator.name : "kinds", kindNames(operator)],
    ),
    ...(asShadow === undefined ? [] : [["shadow", asShadow] satisfies AnnouncedLine]),
  ];
  const names = operators.map(({ operator, file }) => `${operator.name} (${file})`).join(", ");
  announce(io.stdout, names, lines, wantsColours(io.stdout, io.env));
}
