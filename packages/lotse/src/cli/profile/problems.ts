/** What both ways to a profile have to tell. */
import { Problem } from "../terminal/index.ts";

/** A snapshot would rather end the process than show it. */
export function memoryProblem(who: string, why: string): Problem {
  return new Problem({
    what: `${who} has not the memory for a heap snapshot`,
    why,
    todo: "give it more (the pod's limit), or make it all the same with --force: it may be ended for it",
  });
}

/** Somebody else has asked before. */
export function busyProblem(who: string): Problem {
  return new Problem({
    what: `a profile of ${who} is being made already`,
    why: "one at a time, by this command or by SIGUSR2",
    todo: "try again when that one is done",
  });
}
