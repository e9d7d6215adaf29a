/**
 * Whatever becomes of this process, even `kill -9`: those that it started for pods end with it, and their folders go. A
 * small shell beside it holds the other end of a pipe, which the kernel closes when this process is gone.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { POD_VARIABLE } from "./process-owners.ts";

/**
 * Reads the groups that are alive (`+ 12`, `- 12`) until its input ends, then ends them; `q`: there is nothing to do.
 * Where there is `/proc` it also finds those that have left their group, by the variable that every one of them has.
 * What is being ended may still write: hence more than one look.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM
groups=' '
while read -r word group; do
  case $word in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
    q) exit 0 ;;
  esac
done
looks=0
while [ $looks -lt 50 ]; do
  looks=$((looks + 1))
  for group in $groups; do kill -s KILL -- "-$group"; done
  left=
  for file in $(grep -lsF -e "$2=$1/" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -s KILL "\${pid%/environ}" && left=yes
  done
  rm -rf -- "$1"
  [ -e "$1" ] || [ -n "$left" ] || exit 0
  sleep 0.1
done
`;

/** A user may end it by mistake; something that ends it again and again is no mistake. */
const MOST_LIVES = 5;

/** Guards the processes whose pods have their folders below one place. */
export class Watchdog {
  readonly #folder: string;
  readonly #groups = new Set<number>();
  #process: ChildProcess | undefined;
  #lives = 0;
  #closed = false;

  /** `folder` is removed with the processes. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#start();
  }

  /** A process that leads a group of its own has been started. */
  add(group: number): void {
    this.#groups.add(group);
    this.#tell(`+ ${group}\n`);
  }

  /** It has ended, and those of its group with it: its number may soon be another process's. */
  delete(group: number): void {
    this.#groups.delete(group);
    this.#tell(`- ${group}\n`);
  }

  /** Sends the watchdog away: everything has ended in peace. */
  async close(): Promise<void> {
    this.#closed = true;
    const dog = this.#process;
    if (!dog || dog.exitCode !== null || dog.signalCode !== null) return;
    dog.ref();
    const gone = once(dog, "exit");
    dog.stdin?.end("q\n");
    await gone;
  }

  #start(): void {
    const dog = spawn("/bin/sh", ["-c", SCRIPT, "lotse-watchdog", this.#folder, POD_VARIABLE], {
      cwd: "/",
      env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
      // It must neither get the signals of this process's terminal nor keep its output open.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#process = dog;
    this.#lives += 1;
    dog.unref();
    (dog.stdin as Socket).unref();
    // It has ended: told by the other two.
    dog.stdin?.on("error", () => {});
    dog.once("error", (error) => this.#lost(error.message));
    dog.once("exit", () => {
      if (this.#closed) return;
      if (this.#lives < MOST_LIVES) this.#start();
      else this.#lost("it is ended again and again");
    });
    for (const group of this.#groups) this.#tell(`+ ${group}\n`);
  }

  /** Small, so that it is in the pipe when this returns: from then on the process is guarded. */
  #tell(line: string): void {
    const { stdin } = this.#process ?? {};
    if (stdin?.writable) stdin.write(line);
  }

  #lost(why: string): void {
    this.#process = undefined;
    process.emitWarning(
      `the processes of pods would outlive a cluster that is killed: nothing watches over them (${why}). Stop it with Ctrl-C or SIGTERM.`,
    );
  }
}
