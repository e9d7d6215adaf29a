import { ConflictError, ForbiddenError } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { alreadyExists, conflict, notFound } from "./answers.ts";
import { DryRun } from "./dry-run.ts";
import { targetOf } from "./request-target.ts";
import { clientOf, type Got, map, OLD, worker } from "./test-builders.ts";

const PATH = "/api/v1/namespaces/default/configmaps";
const target = targetOf(`${PATH}/one`) as NonNullable<ReturnType<typeof targetOf>>;
const post = { method: "POST", path: PATH, query: { fieldManager: OLD } };

async function dryRun(answers: (got: Got) => object | undefined) {
  const { client, got } = await clientOf(answers);
  return { dryRun: new DryRun(client, worker), got };
}

describe("every request", () => {
  it("is a dry run, by the query and by the body of a deletion, of which the server reads no query", async () => {
    const { dryRun: dry, got } = await dryRun(() => map({}));
    await dry.create(post, map({}), false);
    await dry.patch({ method: "PATCH", path: PATH }, target, "merge", {});
    await dry.apply({ method: "PATCH", path: PATH }, target, map({}));
    await dry.replace({ method: "PUT", path: PATH }, target, map({ a: "1" }), { data: { b: "2" } });
    await dry.remove({ method: "DELETE", path: PATH }, target);
    for (const body of [
      { gracePeriodSeconds: 1 },
      '{"gracePeriodSeconds":1}',
      Buffer.from('{"gracePeriodSeconds":1}'),
    ]) {
      await dry.remove({ method: "DELETE", path: PATH, body }, target);
      expect(got.at(-1)?.body).toEqual({ gracePeriodSeconds: 1, dryRun: ["All"] });
      await dry.send({ method: "DELETE", path: PATH, body });
      expect(got.at(-1)?.body).toEqual({ gracePeriodSeconds: 1, dryRun: ["All"] });
    }
    expect(got.map(({ query }) => query.dryRun)).toEqual(got.map(() => "All"));
    expect(got[3]).toMatchObject({ method: "PUT", body: { data: { a: "1", b: "2" } } });
  });
});

describe("an object that is made", () => {
  it("is tried under another name where its own is taken, and has its own in the answer", async () => {
    const { dryRun: dry, got } = await dryRun(({ body }) => {
      const { name, generateName = "" } = (body as ReturnType<typeof map>).metadata ?? {};
      if (name === "one") throw alreadyExists(target, name, post);
      return map({ default: "x" }, OLD, { name: `${generateName}abcde`, generateName });
    });
    for (const taken of [false, true]) {
      const made = await dry.create(post, map({}), taken);
      expect(made).toMatchObject({ metadata: { name: "one" }, data: { default: "x" } });
      expect(made?.metadata).not.toHaveProperty("generateName");
    }
    expect(got).toHaveLength(3);
  });

  it("that the server refuses is refused", async () => {
    const { dryRun: dry } = await dryRun(() => {
      throw new ForbiddenError("no", { status: 403, reason: "Forbidden", details: {} } as never);
    });
    await expect(dry.create(post, map({}), true)).rejects.toThrow(ForbiddenError);
  });
});

describe("an apply", () => {
  it("is forced against the version that works, and against nobody else", async () => {
    const held = (manager: string) =>
      dryRun(({ query }) => {
        if (query.force) return map({});
        const error = conflict(target, "one", "x", post) as ConflictError;
        Object.assign(error.details, { causes: [{ message: `conflict with "${manager}" using v1` }] });
        throw error;
      });
    const ours = await held(OLD);
    await ours.dryRun.apply({ method: "PATCH", path: PATH }, target, map({}));
    expect(ours.got.map(({ query }) => query.force)).toEqual([undefined, true]);
    const others = await held("kubectl");
    await expect(others.dryRun.apply({ method: "PATCH", path: PATH }, target, map({}))).rejects.toThrow(ConflictError);
  });
});

it("an apply that the version that works has overtaken is tried again, and not for ever", async () => {
  let left = 2;
  const overtaken = await dryRun(() => {
    if (left-- > 0) throw left % 2 ? alreadyExists(target, "one", post) : conflict(target, "one", "modified", post);
    return map({ a: "1" });
  });
  expect(await overtaken.dryRun.apply({ method: "PATCH", path: PATH }, target, map({}))).toMatchObject({
    data: { a: "1" },
  });
  left = 100;
  await expect(overtaken.dryRun.apply({ method: "PATCH", path: PATH }, target, map({}))).rejects.toThrow();
  expect(overtaken.got).toHaveLength(3 + 5);
});

it("what the cluster has no longer cannot be tried, which is no refusal", async () => {
  const { dryRun: dry } = await dryRun(() => {
    throw notFound(target, post);
  });
  expect(await dry.patch({ method: "PATCH", path: PATH }, target, "merge", {})).toBeUndefined();
  expect(await dry.replace({ method: "PUT", path: PATH }, target, map({}), {})).toBeUndefined();
  expect(await dry.remove({ method: "DELETE", path: PATH }, target)).toBeUndefined();
});
