/** A handler that misbehaves is reported with its name and its place, and costs nobody else anything. */
import type { LogRecord } from "lotse";
import { afterAll, describe, expect, it, type TestContext } from "vitest";
import { Trouble } from "./kinds.ts";
import { alarmsIn } from "./oracle.ts";
import { CONCURRENT, eventually, Site, type Trial } from "./trial.ts";

const site = await Site.open();
afterAll(() => site[Symbol.asyncDispose]());

/** What the log has to say about each. */
const TROUBLES: Readonly<Record<string, RegExp>> = {
  throws: /an error that nobody expected/,
  "throws-nothing": /undefined/,
  lingers: /timed? ?-?out/,
  hangs: /abandoned/,
  blocks: /block/,
  mutates: /read.?only/,
  "returns-bigint": /BigInt|JSON/,
  "returns-circle": /circular|JSON/,
  "returns-function": /function|JSON/,
  "patches-bigint": /BigInt|JSON/,
};

function create({ client }: Trial, name: string): Promise<unknown> {
  return client.create(new Trouble({ metadata: { name, labels: { trouble: name } }, spec: { size: 1 } }));
}

/** Lines about the object, and about the handler with its name, that somebody would notice. */
const reports = ({ log }: Trial, trouble: string): LogRecord[] =>
  log.filter(
    ({ level, object, fields }) =>
      (level === "warn" || level === "error") && object?.name === trouble && fields.handler === trouble,
  );

const trials = new Map<string, Promise<Trial>>();

/** Plays with one misbehaving handler; the tests that look at it share one run. */
function play(test: TestContext, trouble: string): Promise<Trial> {
  const trial = trials.get(trouble) ?? begin(test, trouble);
  trials.set(trouble, trial);
  return trial;
}

/** Plays until all has calmed down, and stops. */
async function begin(test: TestContext, trouble: string): Promise<Trial> {
  const trial = await site.trial(test, "misbehaving-operator");
  trial.start();
  await create(trial, trouble);
  await eventually(() => expect(trial.notes.some(({ handler }) => handler === trouble)).toBe(true));
  await create(trial, "bystander");
  for (const name of ["bystander", trouble]) {
    await eventually(async () => {
      const { status } = await trial.client.get(Trouble, name);
      // Closed, whatever came of it; and the object's other handler has seen the object as it is.
      expect(status).toMatchObject({ handled: true, size: 1, lotse: { trouble: { handled: expect.any(String) } } });
      expect(status).not.toHaveProperty("lotse.trouble.open");
    });
  }
  await trial.quiet();
  expect(await trial.stop()).toEqual([0, null]);
  return trial;
}

describe("a handler that misbehaves", () => {
  it.for(Object.entries(TROUBLES))(
    "(%s) is reported with its name and its place",
    CONCURRENT,
    async ([trouble, words], test) => {
      const trial = await play(test, trouble);
      const lines = reports(trial, trouble).map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`);
      expect(lines.join("\n")).toMatch(words);
      expect(lines.join("\n")).toMatch(/misbehaving-operator\.(ts|mjs):\d+/);
    },
  );

  it.for(Object.keys(TROUBLES))("(%s) costs nobody else anything", CONCURRENT, async (trouble, test) => {
    const trial = await play(test, trouble);
    const of = (name: string) => trial.notes.filter(({ object, phase }) => object === name && phase !== "begin");
    expect(of("bystander").map(({ handler, phase }) => `${handler} ${phase}`)).toEqual(["witness done"]);
    // Its own object: the two attempts that it was given, and the other handler once.
    expect(of(trouble).filter(({ handler }) => handler === "witness")).toHaveLength(1);
    expect(
      trial.notes.filter(({ handler, phase }) => handler === trouble && phase === "begin").length,
    ).toBeLessThanOrEqual(2);
    // Nothing else went wrong: no stream was lost, no other object had a problem.
    // A second in which a process does nothing is most of the silence that ends a stream on this clock.
    const others = alarmsIn(trial.log).filter(
      ({ object, fields }) => object?.name !== trouble && fields.error !== "the watch was silent",
    );
    expect(others).toEqual([]);
  });

  it("keeps nobody waiting while it hangs", CONCURRENT, async (test) => {
    const trial = await play(test, "hangs");
    const line = (name: string, text: string) =>
      trial.log.findIndex(({ object, message }) => object?.name === name && message.includes(text));
    expect(line("bystander", "succeeded")).toBeGreaterThanOrEqual(0);
    expect(line("bystander", "succeeded")).toBeLessThan(line("hangs", "abandoned"));
  });
});
