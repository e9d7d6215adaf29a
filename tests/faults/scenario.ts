/**
 * The scenario: what happens to the objects, whatever happens to the operator. It talks to the cluster directly and goes
 * on when it sees that the operator has come far enough, so that it is the same in every run.
 */
import { NotFoundError } from "@lotse/client";
import { Thing } from "./kinds.ts";
import { eventually, type Trial } from "./trial.ts";

/** What becomes of each object: its final size, or undefined when it is deleted. */
export const OBJECTS: Readonly<Record<string, number | undefined>> = {
  /** Created with a child, then changed. */
  plain: 2,
  /** Changed while its creation is being handled. */
  moved: 2,
  /** One of its handlers succeeds only at the second attempt. */
  flaky: 1,
  /** Built in steps, one of which succeeds only at the second attempt. */
  stepwise: 1,
  /** Deleted; its delete handler succeeds only at the second attempt. */
  doomed: undefined,
  /** Deleted while its creation is being handled. */
  hasty: undefined,
};

/** Plays the scenario to its end. */
export async function play(trial: Trial): Promise<void> {
  await Promise.all([
    plain(trial),
    moved(trial),
    simple(trial, "flaky"),
    simple(trial, "stepwise"),
    doomed(trial),
    hasty(trial),
  ]);
}

async function simple(trial: Trial, name: string): Promise<void> {
  await create(trial, name);
  await handled(trial, name);
}

async function plain(trial: Trial): Promise<void> {
  await create(trial, "plain");
  await handled(trial, "plain");
  await trial.client.patch(Thing, "plain", { spec: { size: 2 } });
  await handled(trial, "plain", 2);
}

async function moved(trial: Trial): Promise<void> {
  await create(trial, "moved");
  await begun(trial, "moved");
  await trial.client.patch(Thing, "moved", { spec: { size: 2 } });
  trial.openGate("moved");
  await handled(trial, "moved", 2);
}

async function doomed(trial: Trial): Promise<void> {
  await create(trial, "doomed");
  await handled(trial, "doomed");
  await trial.client.delete(Thing, "doomed");
  await gone(trial, "doomed");
}

async function hasty(trial: Trial): Promise<void> {
  await create(trial, "hasty");
  await begun(trial, "hasty");
  await trial.client.delete(Thing, "hasty");
  await gone(trial, "hasty");
}

/** Creates an object; those that are guarded wait for a delete handler. */
export async function create(trial: Trial, name: string, { size = 1, guard = "yes" } = {}): Promise<void> {
  await trial.client.create(new Thing({ metadata: { name, labels: { guard } }, spec: { size } }));
}

/** Resolves when a handler of the object's creation has begun to work on it. */
export async function begun(trial: Trial, name: string): Promise<void> {
  await eventually(() => {
    if (!trial.notes.some(({ object, handler }) => object === name && handler === "build")) {
      throw new Error(`nobody has begun to build ${name}`);
    }
  });
}

/** Resolves when the object is handled at this size, and says so. */
export async function handled(trial: Trial, name: string, size = 1): Promise<void> {
  await eventually(async () => {
    const { status } = await trial.client.get(Thing, name);
    if (status?.size !== size) throw new Error(`${name} is not handled at size ${size}`);
  });
}

/** Resolves when there is no object of this name. */
export async function gone(trial: Trial, name: string): Promise<void> {
  await eventually(async () => {
    try {
      await trial.client.get(Thing, name);
    } catch (error) {
      if (error instanceof NotFoundError) return;
      throw error;
    }
    throw new Error(`${name} is still there`);
  });
}
