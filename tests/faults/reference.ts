import { type State, stateOf } from "./oracle.ts";
import { play } from "./scenario.ts";
import type { Site, Trial } from "./trial.ts";

/** A run of the scenario to which nothing bad happens. */
export interface Reference {
  /** Its operator is still running. */
  readonly trial: Trial;
  readonly state: State;
}

/** Plays the scenario without faults. */
export async function referenceRun(site: Site): Promise<Reference> {
  const trial = await site.trial();
  trial.start();
  await play(trial);
  await trial.quiet();
  return { trial, state: await stateOf(trial) };
}
