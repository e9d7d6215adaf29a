/**
 * Regular expressions in time that is proportional to the text, whatever the pattern. JavaScript's own tries one way
 * after the other, and a pattern like `(a+)+$` has more ways than there is time; a real server's never does that. So
 * patterns of others that could run away are run here: all ways at once, one step for each character.
 */

/** A stretch of a text, by index. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

type Instruction =
  | { readonly op: "char"; readonly test: (character: string) => boolean }
  | { readonly op: "split"; first: number; second: number }
  | { readonly op: "jump"; to: number }
  | { readonly op: "assert"; readonly holds: (before: string, after: string) => boolean }
  | { readonly op: "match" };

/** What a pattern is made of. `count` of a repetition: at most, `Infinity` for any number. */
export type PatternNode =
  | { readonly type: "char"; readonly test: (character: string) => boolean }
  | { readonly type: "assert"; readonly start: boolean; readonly holds: (before: string, after: string) => boolean }
  | { readonly type: "sequence"; readonly items: readonly PatternNode[] }
  | { readonly type: "choice"; readonly options: readonly PatternNode[] }
  | {
      readonly type: "repeat";
      readonly item: PatternNode;
      readonly least: number;
      readonly most: number;
      readonly greedy: boolean;
    };

/** The largest pattern: repetitions are written out, and `(a{1000}){1000}` would take all memory. */
export const LARGEST_PATTERN = 50_000;

/** How large a pattern is when its repetitions are written out. */
export function sizeOf(node: PatternNode): number {
  switch (node.type) {
    case "char":
    case "assert":
      return 1;
    case "sequence":
      return node.items.reduce((sum, item) => sum + sizeOf(item), 0);
    case "choice":
      return node.options.reduce((sum, option) => sum + sizeOf(option) + 2, 0);
    case "repeat":
      return (sizeOf(node.item) + 2) * (Number.isFinite(node.most) ? Math.max(node.most, 1) : node.least + 1);
  }
}

/** A pattern that can be searched for. */
export class LinearPattern {
  readonly #program: readonly Instruction[];

  /** `node` must not be larger than {@link LARGEST_PATTERN}. */
  constructor(node: PatternNode) {
    const program: Instruction[] = [];
    emit(node, program);
    program.push({ op: "match" });
    this.#program = program;
  }

  test(text: string): boolean {
    return this.#run(text, 0, true) !== undefined;
  }

  /** The first place at or after `from` that matches. */
  find(text: string, from = 0): Span | undefined {
    return this.#run(text, from, false);
  }

  /** Threads are in order of preference; one that matches ends those behind it. */
  #run(text: string, from: number, anyWill: boolean): Span | undefined {
    const program = this.#program;
    const marks = new Int32Array(program.length).fill(-1);
    let threads: Thread[] = [];
    let found: Span | undefined;
    let before = from > 0 ? characterBefore(text, from) : "";
    for (let at = from, step = 0; ; step++) {
      const character = characterAt(text, at);
      if (!found) threads.push({ pc: 0, start: at });
      const ready = expand(program, threads, marks, step, before, character);
      threads = [];
      for (const thread of ready) {
        const instruction = program[thread.pc] as Instruction;
        if (instruction.op === "match") {
          found = { start: thread.start, end: at };
          if (anyWill) return found;
          break;
        }
        if (instruction.op === "char" && character !== "" && instruction.test(character)) {
          threads.push({ pc: thread.pc + 1, start: thread.start });
        }
      }
      if (character === "" || (found && threads.length === 0)) return found;
      before = character;
      at += character.length;
    }
  }
}

interface Thread {
  readonly pc: number;
  readonly start: number;
}

/** Follows threads to where they wait for a character or match; no place is visited twice. */
function expand(
  program: readonly Instruction[],
  threads: readonly Thread[],
  marks: Int32Array,
  step: number,
  before: string,
  after: string,
): Thread[] {
  const ready: Thread[] = [];
  const stack: Thread[] = [];
  for (const first of threads) {
    stack.push(first);
    for (let thread = stack.pop(); thread; thread = stack.pop()) {
      const { pc, start } = thread;
      if (marks[pc] === step) continue;
      marks[pc] = step;
      const instruction = program[pc] as Instruction;
      switch (instruction.op) {
        case "jump":
          stack.push({ pc: instruction.to, start });
          break;
        case "split":
          stack.push({ pc: instruction.second, start }, { pc: instruction.first, start });
          break;
        case "assert":
          if (instruction.holds(before, after)) stack.push({ pc: pc + 1, start });
          break;
        default:
          ready.push(thread);
      }
    }
  }
  return ready;
}

const characterAt = (text: string, at: number): string =>
  at >= text.length ? "" : String.fromCodePoint(text.codePointAt(at) as number);

function characterBefore(text: string, at: number): string {
  const low = text.charCodeAt(at - 1);
  return low >= 0xdc00 && low < 0xe000 && at > 1 ? text.slice(at - 2, at) : text.slice(at - 1, at);
}

function emit(node: PatternNode, program: Instruction[]): void {
  switch (node.type) {
    case "char":
      program.push({ op: "char", test: node.test });
      return;
    case "assert":
      program.push({ op: "assert", holds: node.holds });
      return;
    case "sequence":
      for (const item of node.items) emit(item, program);
      return;
    case "choice":
      emitChoice(node.options, program);
      return;
    case "repeat":
      emitRepeat(node, program);
  }
}

function emitChoice(options: readonly PatternNode[], program: Instruction[]): void {
  const ends: { op: "jump"; to: number }[] = [];
  for (const [i, option] of options.entries()) {
    if (i === options.length - 1) emit(option, program);
    else {
      const split = { op: "split" as const, first: program.length + 1, second: 0 };
      program.push(split);
      emit(option, program);
      const end = { op: "jump" as const, to: 0 };
      program.push(end);
      ends.push(end);
      split.second = program.length;
    }
  }
  for (const end of ends) end.to = program.length;
}

function emitRepeat(node: PatternNode & { type: "repeat" }, program: Instruction[]): void {
  for (let i = 0; i < node.least; i++) emit(node.item, program);
  const optional = (): ((end: number) => void) => {
    const split = { op: "split" as const, first: 0, second: 0 };
    program.push(split);
    const inside = program.length;
    return (end) => {
      split.first = node.greedy ? inside : end;
      split.second = node.greedy ? end : inside;
    };
  };
  if (node.most === Number.POSITIVE_INFINITY) {
    const begin = program.length;
    const close = optional();
    emit(node.item, program);
    program.push({ op: "jump", to: begin });
    close(program.length);
    return;
  }
  const closes: ((end: number) => void)[] = [];
  for (let i = node.least; i < node.most; i++) {
    closes.push(optional());
    emit(node.item, program);
  }
  for (const close of closes) close(program.length);
}
