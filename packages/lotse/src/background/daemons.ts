/**
 * Daemons: one task for each object and handler, begun when the object first matches, never two. A daemon that ended by
 * itself does not begin again in this process; one that was stopped by its filters begins again when they match, and one
 * that failed for good when the object has changed.
 */
import { type Aborted, type DaemonHandler, matchesFilters } from "../declare/index.ts";
import type { BackgroundTurn } from "../turn/index.ts";
import { Daemon } from "./daemon.ts";

/** Begins daemons that the object matches and stops those that it does not match any more. */
export function updateDaemons(
  turn: BackgroundTurn,
  handlers: readonly DaemonHandler[],
  daemons: Map<string, Daemon>,
  deleting: boolean,
): void {
  for (const handler of handlers) {
    if (daemons.get(handler.id)?.isLifted) daemons.delete(handler.id);
    const daemon = daemons.get(handler.id);
    const mayBegin = !deleting && !turn.work.runtime.stopping.aborted && !turn.memory.left;
    const wanted = mayBegin && matches(handler, turn);
    if (wanted && !daemon) begin(turn, handler, daemons);
    else if (!wanted && daemon && !daemon.isOver) {
      if (deleting) daemon.stop("deletion", "the object is being deleted");
      else daemon.stop("mismatch", "the object no longer matches the daemon's filters");
    }
  }
}

function matches({ filters, param }: DaemonHandler, { work, body, memory }: BackgroundTurn): boolean {
  return matchesFilters(filters, body, [body], filters.when && { memo: work.views.memoOf(memory), param });
}

function begin(turn: BackgroundTurn, handler: DaemonHandler, daemons: Map<string, Daemon>): void {
  const daemon = new Daemon(turn, handler);
  daemons.set(handler.id, daemon);
  // Cannot reject.
  void daemon.ended.then((byItself) => {
    if (byItself || daemons.get(handler.id) !== daemon) return;
    // Stopped from outside: may begin again, and not before this one has ended.
    daemons.delete(handler.id);
    turn.work.store.wake(turn.memory.key);
  });
}

/** Ends all of them; resolves when they have ended or were abandoned. */
export async function stopDaemons(
  daemons: ReadonlyMap<string, Daemon>,
  why: Aborted["why"],
  message: string,
): Promise<void> {
  const running = [...daemons.values()];
  for (const daemon of running) daemon.stop(why, message);
  await Promise.all(running.map(({ ended }) => ended));
}

/** Tries again at once what waits for it, and what has failed for good; the ids of both. */
export function retryDaemons(daemons: Map<string, Daemon>): string[] {
  return [...daemons].flatMap(([id, daemon]) => {
    if (daemon.hurry()) return [id];
    if (!daemon.isOver || daemon.standing?.state !== "failed") return [];
    // The next turn begins it anew.
    daemons.delete(id);
    return [id];
  });
}
