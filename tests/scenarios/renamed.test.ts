import { type Client, ConfigMap, NotFoundError } from "@lotse/client";
import { Operator, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Ship = resource({
  group: "renamed.example.com",
  version: "v1",
  kind: "Ship",
  spec: z.object({ flag: z.string().default("white") }),
  status: z.object({ flag: z.string().optional() }),
});

describeOn(clustersUnderTest(), "an operator that was renamed", (cluster) => {
  const stage = useStage(cluster, "renamed");
  const { start, eventually, quiet, logs } = stage;
  const labels = { ship: "yes" };
  let client: Client;
  let seen: string[];

  beforeEach(() => {
    ({ client } = stage);
    seen = [];
  });

  /** Handles a kind with its record in the status, and one with its record in an annotation. */
  function declare(name: string, formerNames: readonly string[] = []): Operator {
    const operator = new Operator({ name, formerNames });
    operator.on.create(Ship, function launch({ name: ship }) {
      seen.push(`${name} launches ${ship}`);
    });
    operator.on.update(Ship, function repaint({ old, new: now }) {
      seen.push(`${name} repaints ${old?.spec?.flag} ${now?.spec?.flag}`);
    });
    operator.on.delete(Ship, function scrap({ name: ship }) {
      seen.push(`${name} scraps ${ship}`);
    });
    operator.on.create(ConfigMap, { labels }, function read({ name: map }) {
      seen.push(`${name} reads ${map}`);
    });
    operator.on.delete(ConfigMap, { labels }, function burn({ name: map }) {
      seen.push(`${name} burns ${map}`);
    });
    return operator;
  }

  const handled = async () => {
    const first = await start(declare("harbour"));
    await client.create(new Ship({ metadata: { name: "one" }, spec: { flag: "white" } }));
    await client.create(ConfigMap.gen({ name: "log", labels }));
    await eventually(() => expect([...seen].sort()).toEqual(["harbour launches one", "harbour reads log"]));
    await quiet();
    await first.stop();
    seen = [];
  };

  it("takes over what it has done under its former name, and its finalizers, when it knows that name", async () => {
    await handled();
    await client.delete(ConfigMap, "log");
    const second = await start(declare("port", ["quay", "harbour"]));
    await eventually(() => expect(seen).toEqual(["port burns log"]));
    await eventually(() => expect(client.get(ConfigMap, "log")).rejects.toBeInstanceOf(NotFoundError));
    await client.patch(Ship, "one", { spec: { flag: "black" } });
    await eventually(() => expect(seen).toEqual(["port burns log", "port repaints white black"]));
    await quiet();
    const { metadata, status } = await client.get(Ship, "one");
    expect(metadata.finalizers).toEqual(["port.lotse.dev/finalizer"]);
    expect(Object.keys((status as { lotse?: object }).lotse ?? {})).toContain("port");
    expect(logs.map(({ message }) => message)).not.toContain(
      "objects carry the marks of an operator that nobody seems to run",
    );
    // From then on it needs its former name no longer.
    await second.stop();
    await start(declare("port"));
    await quiet();
    await client.delete(Ship, "one");
    await eventually(() => expect(client.get(Ship, "one")).rejects.toBeInstanceOf(NotFoundError));
    expect(seen.slice(2)).toEqual(["port scraps one"]);
  });

  it("keeps the children that it made under its former name, and what is no longer wanted of them goes", async () => {
    const fleet = (name: string, formerNames: readonly string[], data: Record<string, string>, extra: boolean) => {
      const operator = new Operator({ name, formerNames });
      operator.children(Ship, { deletion: "reverse" }, function papers({ name: ship }) {
        return [
          ConfigMap.gen({ name: `${ship}-log`, data }),
          extra && ConfigMap.gen({ name: `${ship}-menu`, data: { soup: "yes" } }),
        ];
      });
      return operator;
    };
    const first = await start(fleet("harbour", [], { from: "north", to: "south" }, true));
    const ship = await client.create(new Ship({ metadata: { name: "one" }, spec: {} }));
    await eventually(async () => expect(await client.get(ConfigMap, "one-menu")).toBeDefined());
    const { uid } = await client.get(ConfigMap, "one-log");
    await quiet();
    await first.stop();
    await start(fleet("port", ["harbour"], { from: "north" }, false));
    await eventually(async () => expect((await client.get(ConfigMap, "one-log")).body.data).toEqual({ from: "north" }));
    await eventually(() => expect(client.get(ConfigMap, "one-menu")).rejects.toBeInstanceOf(NotFoundError));
    const log = await client.get(ConfigMap, "one-log");
    expect(log.uid).toBe(uid);
    expect(Object.keys(log.annotations)).toEqual(["port.lotse.dev/child"]);
    await ship.delete();
    await eventually(() => expect(client.get(Ship, "one")).rejects.toBeInstanceOf(NotFoundError));
    await eventually(() => expect(client.get(ConfigMap, "one-log")).rejects.toBeInstanceOf(NotFoundError));
    expect(logs.filter(({ level }) => level === "warn" || level === "error").map(({ message }) => message)).toEqual([]);
  });

  it("says at its start whose marks it has found when it does not", async () => {
    await handled();
    await client.delete(Ship, "one");
    await start(declare("port"));
    const told = () =>
      logs.filter(({ message }) => /^objects carry the marks/.test(message)).map(({ fields }) => fields);
    await eventually(() => expect(told()).toHaveLength(2));
    expect(told()).toContainEqual(
      expect.objectContaining({
        kind: "Ship",
        marks: "harbour",
        objects: 1,
        waitingForIt: 1,
        example: `${stage.namespace}/one`,
        hint: expect.stringContaining('formerNames: ["harbour"]'),
      }),
    );
    await client.patch(Ship, "one", { metadata: { finalizers: null } });
  });

  it("cannot have had a name that no operator can have", () => {
    expect(() => new Operator({ name: "port", formerNames: ["The Harbour"] })).toThrow("is not an operator's name");
  });
});
