/** `lotse completion`: scripts that make shells complete commands and options, made from the commands themselves. */
import type { Command } from "commander";
import type { Io } from "./terminal/index.ts";
import { Problem } from "./terminal/index.ts";

interface Completable {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly { readonly long: string; readonly short: string | undefined; readonly help: string }[];
  /** Whether it takes files. */
  readonly files: boolean;
}

const SHELLS: Readonly<Record<string, (commands: readonly Completable[]) => string>> = { bash, zsh, fish };

/** Prints the script for `shell`. */
export function completion(shell: string, program: Command, io: Io): number {
  const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (!script) {
    throw new Problem(
      { what: `there is no completion for ${JSON.stringify(shell)}`, todo: `use ${Object.keys(SHELLS).join(", ")}` },
      { exitCode: 2 },
    );
  }
  io.stdout.write(script(program.commands.map(completable)));
  return 0;
}

function completable(command: Command): Completable {
  // Also what the help has no room for.
  const options = new Set([...command.createHelp().visibleOptions(command), ...command.options]);
  return {
    name: command.name(),
    summary: command.summary() || command.description(),
    flags: [...options].flatMap(({ long, short, description }) =>
      long === undefined || long === null ? [] : [{ long, short: short ?? undefined, help: description }],
    ),
    files: command.registeredArguments.some((argument) => /file/.test(argument.name())),
  };
}

function bash(commands: readonly Completable[]): string {
  const cases = commands.map(
    ({ name, flags, files }) =>
      `    ${name}) words=${quote(flags.map(({ long }) => long).join(" "))}; files=${files ? "yes" : ""} ;;`,
  );
  return `# lotse: completion for bash
_lotse() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words="" files=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quote(commands.map(({ name }) => name).join(" "))} -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) if [ -n "$files" ]; then COMPREPLY=($(compgen -f -- "$current")); fi ;;
  esac
}
complete -o filenames -F _lotse lotse
`;
}

function zsh(commands: readonly Completable[]): string {
  const described = commands.map(({ name, summary }) => `    ${quote(`${name}:${summary}`)}`);
  const cases = commands.map(({ name, flags, files }) => {
    const words = flags.map(({ long, help }) => quote(`${long}[${help.replaceAll(/[[\]]/g, "")}]`));
    return `      ${name}) _arguments ${[...words, ...(files ? ["'*:file:_files'"] : [])].join(" ")} ;;`;
  });
  return `#compdef lotse
_lotse() {
  local -a commands
  commands=(
${described.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
  else
    case "$words[2]" in
${cases.join("\n")}
    esac
  fi
}
compdef _lotse lotse
`;
}

function fish(commands: readonly Completable[]): string {
  const lines = commands.flatMap(({ name, summary, flags, files }) => {
    const inside = `-n ${quote(`__fish_seen_subcommand_from ${name}`)}`;
    return [
      `complete -c lotse -n __fish_use_subcommand ${files ? "" : "-f "}-a ${name} -d ${quote(summary)}`,
      ...flags.map(
        ({ long, short, help }) =>
          `complete -c lotse ${inside} -l ${long.slice(2)}${short === undefined ? "" : ` -s ${short.slice(1)}`} -d ${quote(help)}`,
      ),
    ];
  });
  return `# lotse: completion for fish\n${lines.join("\n")}\n`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
