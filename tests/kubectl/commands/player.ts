import { type ChildProcess, spawn } from "node:child_process";
import { run } from "../../run.ts";

/** What a step needs beside its words. */
export interface StepOptions {
  /** What kubectl reads: a text, or objects as documents. */
  readonly stdin?: string | readonly object[];
  /** The exit code; 0 unless told. */
  readonly exit?: number;
  /** A `sed` script that plays the editor. It has no spaces. */
  readonly editor?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** kubectl goes on for ever: it is stopped when the pattern has shown. */
  readonly endless?: boolean;
  /** Run again and again until the pattern of an endless step shows; `{n}` counts. */
  readonly meanwhile?: string;
  /** Written to an endless step's input again and again until the pattern shows: kubectl does not say when it is ready. */
  readonly types?: string;
  /** What to do while an endless step goes on, once its pattern has shown. */
  readonly whenShown?: (shown: RegExpExecArray) => Promise<void>;
  /** Run until the pattern shows, for what takes the cluster a moment. */
  readonly again?: boolean;
}

/** The words after `kubectl`, and what it says on stdout or stderr. `{…}` are places that the player fills in. */
export type Step = readonly [line: string, says: RegExp, options?: StepOptions];

/** What people do with kubectl, on objects that no other row touches. */
export type Row = readonly [title: string, ...steps: Step[]];

const limitMs = 45_000;

/** Plays steps with one kubectl against one cluster. */
export class Player {
  readonly #kubectl: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #places: Readonly<Record<string, string>>;

  constructor(kubectl: string, env: Readonly<Record<string, string>>, places: Readonly<Record<string, string>>) {
    this.#kubectl = kubectl;
    this.#env = env;
    this.#places = places;
  }

  async play(step: Step): Promise<void> {
    const [, , options = {}] = step;
    if (options.endless) return this.#endless(step);
    const deadline = performance.now() + limitMs;
    for (;;) {
      try {
        return await this.#once(step);
      } catch (error) {
        if (!options.again || performance.now() > deadline) throw error;
      }
    }
  }

  async #once([line, says, options = {}]: Step): Promise<void> {
    const { stdin, exit = 0 } = options;
    const { exitCode, stdout, stderr } = await run(this.#kubectl, this.#words(line), {
      env: this.#environment(options),
      ...(stdin !== undefined && { stdin: typeof stdin === "string" ? stdin : documents(stdin) }),
    });
    if (exitCode === exit && says.test(stdout + stderr)) return;
    throw new Error(
      `kubectl ${line}\nends with ${exitCode}, having said:\n${stdout}${stderr}\nIt should end with ${exit} and say ${says}`,
    );
  }

  async #endless([line, says, options = {}]: Step): Promise<void> {
    const child = spawn(this.#kubectl, this.#words(line), {
      env: { ...process.env, ...this.#environment(options) },
      stdio: [options.types === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    child.stdin?.on("error", () => {}); // it may end without reading
    try {
      await this.#shows(child, line, says, options);
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
  }

  async #shows(child: ChildProcess, line: string, says: RegExp, options: StepOptions): Promise<void> {
    let [text, over] = ["", false];
    child.once("close", () => {
      over = true;
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
    }
    const deadline = performance.now() + limitMs;
    for (let n = 1; !says.test(text) && !over && performance.now() < deadline; n++) {
      if (options.types !== undefined) child.stdin?.write(options.types);
      if (options.meanwhile) await this.#once([options.meanwhile.replaceAll("{n}", String(n)), /^/]);
      else await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const shown = says.exec(text);
    if (!shown) throw new Error(`kubectl ${line}\nsays:\n${text}\nIt should say ${says}`);
    await options.whenShown?.(shown);
  }

  #environment({ env, editor }: StepOptions): Record<string, string> {
    return { ...this.#env, ...env, ...(editor !== undefined && { KUBE_EDITOR: `sed -i ${editor}` }) };
  }

  #words(line: string): string[] {
    return wordsOf(line).map((word) =>
      word.replace(/\{(folder|node|port)\}/g, (_all, name: string) => this.#places[name] ?? ""),
    );
  }
}

/** Words as a shell separates them; single quotes keep blanks together. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:[^\s']|'[^']*')+/g)].map(([word]) => word.replaceAll("'", ""));
}

function documents(items: readonly object[]): string {
  return items.map((item) => JSON.stringify(item)).join("\n");
}
