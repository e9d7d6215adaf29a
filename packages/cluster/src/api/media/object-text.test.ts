import { describe, expect, it } from "vitest";
import { ObjectTexts } from "./object-text.ts";

const objects = (count: number) => Array.from({ length: count }, (_, at) => ({ at }));

describe("the JSON of a large list", () => {
  it("is written in slices, between which others have their turn", async () => {
    const texts = new ObjectTexts();
    const written: number[] = [];
    const items = objects(1_000);
    for (const item of items) {
      Object.defineProperty(item, "toJSON", {
        value() {
          written.push(item.at);
          return { at: item.at };
        },
      });
    }
    const turns: number[] = [];
    await texts.prepare(items, async () => void turns.push(written.length));
    expect(turns).toEqual([200, 400, 600, 800, 1_000]);
    expect(texts.of(items[7] as object)).toBe('{"at":7}');
    expect(written).toHaveLength(1_000);
  });

  it("costs a small one nothing", () => {
    expect(new ObjectTexts().prepare(objects(200), () => Promise.reject(new Error("not needed")))).toBeUndefined();
  });
});
