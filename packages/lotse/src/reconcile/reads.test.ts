import type { KubeBody } from "@lotse/client";
import { type ObjectKey, objectKey, objectKeyOf } from "@lotse/client/meta";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type QueryInput, readQuery } from "./query.ts";
import { type Change, changeName, KindReads, type Reader, type ReadPoint } from "./reads.ts";
import { event, naivelyMatches, place, query, TestObjects } from "./test-objects.ts";

/** A reader that writes down what it is told. */
class Told implements Reader {
  told: ReadPoint[] = [];
  onChange(point: ReadPoint): void {
    this.told.push(point);
  }
  claim(): void {}
}

const BY_NOBODY = { by: undefined };

type Read =
  | { readonly type: "object"; readonly key: ObjectKey }
  | { readonly type: "existence"; readonly key: ObjectKey }
  | { readonly type: "list"; readonly input: QueryInput };

const key = place.map(({ namespace, name }) => objectKeyOf(namespace, name));
const read: fc.Arbitrary<Read> = fc.oneof(
  fc.record({ type: fc.constant("object" as const), key }),
  fc.record({ type: fc.constant("existence" as const), key }),
  fc.record({ type: fc.constant("list" as const), input: query }),
);

function subscribe(reads: KindReads, one: Read, reader: Reader): ReadPoint {
  if (one.type === "object") return reads.object(one.key, reader);
  if (one.type === "existence") return reads.existence(one.key, reader);
  return reads.list(readQuery(one.input), reader);
}

/** What reading gives, so that two answers can be compared: which objects, and which versions of them. */
function answer(one: Read, objects: TestObjects): unknown {
  const known = (body: KubeBody | undefined) => body && `${body.metadata?.uid} @${body.metadata?.resourceVersion}`;
  if (one.type === "object") return known(objects.get(one.key)) ?? null;
  if (one.type === "existence") return objects.get(one.key)?.metadata?.uid ?? null;
  const found = [...objects.values()].filter((body) => naivelyMatches(one.input, body));
  return found.map((body) => `${objectKey(body)} ${known(body)}`).sort();
}

describe("a change", () => {
  it("is told to exactly those whose answer would be another one, once for each of their reads", () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 6 }),
        fc.array(read, { minLength: 1, maxLength: 12 }),
        fc.array(event, { minLength: 1, maxLength: 8 }),
        (past, asked, events) => {
          const objects = new TestObjects();
          for (const one of past) objects.happen(one);
          const reads = new KindReads("Thing");
          const readers = asked.map((one) => ({ one, reader: new Told(), point: undefined as ReadPoint | undefined }));
          for (const entry of readers) entry.point = subscribe(reads, entry.one, entry.reader);
          for (const next of events) {
            const before = readers.map(({ one }) => answer(one, objects));
            for (const { reader } of readers) reader.told = [];
            const change = objects.happen(next);
            if (change) reads.changed({ ...change, ...BY_NOBODY });
            readers.forEach(({ one, reader, point }, at) => {
              const differs = JSON.stringify(answer(one, objects)) !== JSON.stringify(before[at]);
              expect(reader.told).toEqual(differs ? [point] : []);
            });
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it("is told to nobody who has forgotten, and then nothing is left", () => {
    fc.assert(
      fc.property(
        fc.array(read, { minLength: 1, maxLength: 15 }),
        fc.array(event, { maxLength: 6 }),
        (asked, events) => {
          const reads = new KindReads("Thing");
          const [first, second] = [new Told(), new Told()];
          const points = asked.flatMap((one) =>
            [first, second].map((reader) => ({ reader, point: subscribe(reads, one, reader) })),
          );
          expect(reads.size).toBe(new Set(points.map(({ point }) => point)).size);
          for (const { reader, point } of points) reads.forget(point, reader);
          expect(reads.size).toBe(0);
          expect(leftIn(reads)).toBe(0);
          const objects = new TestObjects();
          for (const one of events) {
            const change = objects.happen(one);
            if (change) reads.changed({ ...change, ...BY_NOBODY });
          }
          expect([...first.told, ...second.told]).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("is still told to those who share a read with somebody who has forgotten it", () => {
    const reads = new KindReads("Thing");
    const [first, second, third] = [new Told(), new Told(), new Told()];
    const points = [first, second, third].map((reader) => reads.object(objectKeyOf("one", "a"), reader));
    expect(reads.size).toBe(1);
    reads.forget(points[0] as ReadPoint, first);
    reads.forget(points[0] as ReadPoint, first);
    reads.changed({ before: undefined, now: body("one", "a"), ...BY_NOBODY });
    expect([first, second, third].map(({ told }) => told.length)).toEqual([0, 1, 1]);
  });

  it("may make whoever is told forget, while others are being told", () => {
    const reads = new KindReads("Thing");
    const last = new Told();
    const leaving: Reader = {
      onChange: (point) => {
        reads.forget(point, leaving);
        reads.forget(point, last);
      },
      claim: () => {},
    };
    reads.object(objectKeyOf("one", "a"), leaving);
    reads.object(objectKeyOf("one", "a"), last);
    expect(() => reads.changed({ before: undefined, now: body("one", "a"), ...BY_NOBODY })).not.toThrow();
    expect(reads.size).toBe(0);
  });

  it("of an index is told to the readers of its key", () => {
    const reads = new KindReads("byNode");
    const [one, two] = [new Told(), new Told()];
    const point = reads.indexKey("n1", one);
    reads.indexKey("n2", two);
    const change: Change = { before: undefined, now: undefined, by: undefined };
    reads.indexChanged("n1", change);
    expect([one.told, two.told]).toEqual([[point], []]);
    expect(point.text).toBe("index byNode[n1]");
  });

  it("has a name that the stream and the answer to a write agree on", () => {
    const { metadata } = body("one", "a");
    expect(changeName({ metadata } as KubeBody, false)).toBe("uid-a @7");
    expect(changeName({ metadata: { ...metadata, resourceVersion: "9" } } as KubeBody, true)).toBe("uid-a gone");
  });
});

describe("a read in words", () => {
  const reads = new KindReads("Pod");
  const list = (input: Partial<QueryInput>) =>
    reads.list(readQuery({ namespace: undefined, ...input }), new Told()).text;

  it("says what was read", () => {
    expect(reads.object(objectKeyOf("one", "a"), new Told()).text).toBe("Pod one/a");
    expect(reads.object(objectKeyOf(undefined, "a"), new Told()).text).toBe("Pod a");
    expect(reads.existence(objectKeyOf("one", "a"), new Told()).text).toBe("whether there is a Pod one/a");
    expect(list({})).toBe("list of Pod");
    expect(list({ namespace: "one" })).toBe("list of Pod in one");
    expect(list({ labelSelector: { app: "web" } })).toBe("list of Pod with app=web");
    expect(list({ namespace: "one", labelSelector: "app=web,tier!=db" })).toBe(
      "list of Pod in one with app=web,tier!=db",
    );
    expect(list({ fieldSelector: "spec.nodeName=n1" })).toBe("list of Pod with spec.nodeName=n1");
    expect(list({ owner: "u1" })).toBe("list of Pod with owner u1");
    expect(list({ owner: "u1", labelSelector: "app" })).toBe("list of Pod with app owner u1");
  });
});

function body(namespace: string, name: string): KubeBody {
  return { metadata: { namespace, name, uid: `uid-${name}`, resourceVersion: "7" } } as KubeBody;
}

/** How many dimensions would still be looked at for a change: asked through what a change costs. */
function leftIn(reads: KindReads): number {
  let looked = 0;
  const metadata = new Proxy({} as Record<string, unknown>, {
    get: () => {
      looked++;
      return undefined;
    },
  });
  reads.changed({ before: undefined, now: { metadata } as KubeBody, ...BY_NOBODY });
  return looked;
}
