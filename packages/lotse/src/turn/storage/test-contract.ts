/** What every storage must keep true, as a suite to run for each. */
import type { KubeBody } from "@lotse/client";
import { deepClone, deepEqual } from "@lotse/client/meta";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { essenceOf } from "../essence.ts";
import type { ObjectRecord, RecordReading, RunRecord, StepRecord } from "../record.ts";
import { thing } from "../test-builders.ts";
import { type RecordStorage, recall } from "./storage.ts";

/** Ids of the handlers in the suite: short, of a field, and longer than a key may be. */
export const HANDLERS = ["first", "second/spec.field", `third/${"x".repeat(70)}`] as const;

/** A body and a record for it. */
export interface Remembered {
  readonly body: KubeBody;
  readonly record: ObjectRecord;
}

/** A storage and what the suite has to know of it. */
export interface StorageCase {
  readonly storage: RecordStorage;
  /** The same kind of storage of another operator. */
  readonly other: RecordStorage;
  /** What the storage can express whole. */
  readonly remembered: fc.Arbitrary<Remembered>;
  /** A person edits what was written. */
  readonly damage: (body: KubeBody) => KubeBody;
  /** What a record counts as that came to the object by a copy. */
  readonly copied: RecordReading["type"];
}

const time = fc
  .date({ min: new Date(0), max: new Date("2100-01-01T00:00:00Z"), noInvalidDate: true })
  .map((date) => date.toISOString());

/** Steps without results. */
const steps: fc.Arbitrary<Record<string, StepRecord>> = fc
  .dictionary(
    fc.constantFrom("one", "two/three", "y".repeat(60)),
    fc.oneof(
      fc.record({ attempts: fc.nat(9), started: time, due: time, message: fc.string() }),
      fc.record({ attempts: fc.nat(9), outcome: fc.constant("done" as const) }),
      fc.record({ attempts: fc.nat(9), outcome: fc.constant("failed" as const), message: fc.string() }),
    ),
    { minKeys: 1 },
  )
  .map((value) => ({ ...value }));

/** Runs as the engine makes them, without what they saw. */
export const runs: fc.Arbitrary<Record<string, RunRecord>> = fc
  .dictionary(
    fc.constantFrom(...HANDLERS),
    fc.oneof(
      fc.record({ attempts: fc.nat(9), started: time }),
      fc.record({ attempts: fc.nat(9), started: time, steps }),
      fc.record({ attempts: fc.nat(9), started: time, due: time, message: fc.string() }),
      fc.record({ attempts: fc.nat(9), started: time, outcome: fc.constant("done" as const) }),
      fc.record({ attempts: fc.nat(9), started: time, outcome: fc.constant("failed" as const), message: fc.string() }),
    ),
    { minKeys: 1 },
  )
  .map((value) => ({ ...value }));

/** JSON as it comes from a server. */
export const json: fc.Arbitrary<unknown> = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);

/** Bodies with the traces of others on them. */
export const bodies: fc.Arbitrary<KubeBody> = fc
  .record({
    spec: fc.record({ value: json }),
    annotations: fc.subarray([
      "note",
      "their.lotse.dev/state",
      "kopf.zalando.org/their_fn",
      "their.kopf.zalando.org/fn",
    ]),
    status: fc.subarray(["phase", "lotse", "kopf"]),
    labels: fc.boolean(),
  })
  .map(({ spec, annotations, status, labels }) => {
    const values = {
      phase: "Ready",
      lotse: { their: { uid: "u1" } },
      kopf: { progress: { their_fn: { retries: 1 } } },
    };
    const metadata = {
      finalizers: ["example.com/theirs"],
      ...(labels && { labels: { app: "shop" } }),
      ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations.map((key) => [key, "{}"])) }),
    };
    const chosen = Object.entries(values).filter(([key]) => status.includes(key));
    return { ...thing(spec, metadata), ...(chosen.length > 0 && { status: Object.fromEntries(chosen) }) };
  });

/** The suite runs for many storages, each with several properties: a part in `npm test`, all in `npm run test:full`. */
const RUNS = { numRuns: process.env.LOTSE_FULL === "1" ? 50 : 20 };

/** See the module comment. */
export function storageContract(name: string, make: () => StorageCase): void {
  describe(`the contract of storages, kept by ${name}`, () => {
    const { storage, other, remembered, damage, copied } = make();
    const always = (check: (given: Remembered) => void) => fc.assert(fc.property(remembered, check), RUNS);
    const [example] = fc.sample(
      remembered.filter(({ record }) => record.handled !== undefined),
      { numRuns: 1, seed: 1 },
    );
    const { body, record } = example as Remembered;

    it("finds what was written", () => {
      always(({ body, record }) => {
        expect(storage.read(storage.write(body, record, HANDLERS), HANDLERS)).toEqual({ type: "found", record });
      });
    });

    it("finds what was written last", () => {
      fc.assert(
        fc.property(remembered, remembered, (before, { body, record }) => {
          const first = storage.write(body, before.record, HANDLERS);
          const last = storage.write(first, record, HANDLERS);
          expect(storage.read(last, HANDLERS)).toEqual({ type: "found", record });
        }),
        RUNS,
      );
    });

    it("changes nothing when it is written already", () => {
      always(({ body, record }) => {
        const written = storage.write(body, record, HANDLERS);
        expect(storage.write(written, record, HANDLERS)).toEqual(written);
        const found = storage.read(written, HANDLERS);
        if (found.type === "found") expect(storage.write(written, found.record, HANDLERS)).toEqual(written);
      });
    });

    it("leaves its input alone", () => {
      always(({ body, record }) => {
        const before = deepClone({ body, record });
        const written = storage.write(freeze(body), freeze(record), HANDLERS);
        storage.write(freeze(written), undefined, HANDLERS);
        storage.read(written, HANDLERS);
        storage.clear(freeze(essenceOf(written)));
        expect({ body, record }).toEqual(before);
      });
    });

    it("takes off everything that it put on, and nothing else", () => {
      always(({ body, record }) => {
        const erased = storage.write(storage.write(body, record, HANDLERS), undefined, HANDLERS);
        expect(withoutEmptyStatus(erased)).toEqual(withoutEmptyStatus(body));
        expect(storage.read(erased, HANDLERS)).toEqual({ type: "absent" });
      });
    });

    it("makes no change of the essence", () => {
      always(({ body, record }) => {
        const written = storage.write(body, record, HANDLERS);
        expect(storage.clear(essenceOf(written))).toEqual(storage.clear(essenceOf(body)));
      });
    });

    it("does not meet another operator's", () => {
      fc.assert(
        fc.property(remembered, remembered, ({ body, record }, their) => {
          const theirs = { ...their.record, uid: record.uid };
          const both = other.write(storage.write(body, record, HANDLERS), theirs, HANDLERS);
          expect(storage.read(both, HANDLERS)).toEqual({ type: "found", record });
          const left = storage.write(both, undefined, HANDLERS);
          expect(other.read(left, HANDLERS)).toEqual(other.read(both, HANDLERS));
          expect(other.write(left, undefined, HANDLERS).spec).toEqual(body.spec);
        }),
        RUNS,
      );
    });

    it("is absent where nothing was written, and after somebody wiped it", () => {
      expect(storage.read(thing(), HANDLERS)).toEqual({ type: "absent" });
      const { annotations: _annotations, ...metadata } = storage.write(body, record, HANDLERS).metadata ?? {};
      expect(storage.read({ ...body, metadata, status: {} }, HANDLERS)).toEqual({ type: "absent" });
    });

    it(`counts as ${copied} on a copy of the object`, () => {
      const written = storage.write(body, record, HANDLERS);
      const copy = { ...written, metadata: { ...written.metadata, uid: "u2" } };
      expect(storage.read(copy, HANDLERS).type).toBe(copied);
    });

    it("is unreadable when somebody edited it, and can be written again", () => {
      const damaged = damage(storage.write(body, record, HANDLERS));
      expect(storage.read(damaged, HANDLERS)).toEqual({ type: "unreadable" });
      expect(storage.read(storage.write(damaged, record, HANDLERS), HANDLERS)).toEqual({ type: "found", record });
    });

    it("has a finalizer of its own", () => {
      expect(storage.finalizer).toMatch(/^[a-z0-9.-]+\/[A-Za-z0-9.-]+$/);
    });

    it("is recalled whole by the process that wrote it, until somebody changes it", () => {
      const known: ObjectRecord = {
        uid: "u1",
        handled: "before",
        open: { reason: "update", digest: "then", only: [HANDLERS[0]] },
        runs: { [HANDLERS[0]]: { attempts: 1, started: "2026-01-01T00:00:00.000Z", saw: "then" } },
      };
      const written = storage.write(thing(), known, HANDLERS);
      expect(recall(storage, written, HANDLERS, known)).toEqual({ type: "found", record: known });
      expect(recall(storage, damage(written), HANDLERS, known)).toEqual({ type: "unreadable" });
      const copy = { ...written, metadata: { ...written.metadata, uid: "u2" } };
      expect(recall(storage, copy, HANDLERS, known)).toEqual(storage.read(copy, HANDLERS));
      expect(recall(storage, written, HANDLERS, undefined)).toEqual(storage.read(written, HANDLERS));
      const moved = storage.write(written, { uid: "u1", handled: "x", base: 'j{"spec":1}' }, HANDLERS);
      expect(deepEqual(recall(storage, moved, HANDLERS, known), { type: "found", record: known })).toBe(false);
    });
  });
}

/** A status that is there and empty, and one that is not there, say the same. */
function withoutEmptyStatus({ status, ...body }: KubeBody): KubeBody {
  return deepEqual(status ?? {}, {}) ? body : { ...body, status };
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) freeze(member);
  }
  return value;
}
