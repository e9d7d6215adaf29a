/** Kinds that come, go and come back while an operator runs, and a server that does not always say which there are. */
import { type Client, CustomResourceDefinition, type KubeBody, NotFoundError } from "@lotse/client";
import { type Clock, systemClock } from "@lotse/client/meta";
import { everything, Operator, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";
import { Wire, type WireFault } from "./wire.ts";

const GROUP = "comings.example.com";

const Guest = resource({ group: GROUP, version: "v1", kind: "Guest", spec: z.object({ room: z.string().optional() }) });

const definition = (plural: string): KubeBody => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { plural, singular: plural.slice(0, -1), kind: `K${plural.slice(0, -1)}`, listKind: `K${plural}List` },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
});

/** What the server may answer when it is asked for its kinds. */
const FAULTS = [
  ["403", { type: "answer", status: 403 }],
  ["429", { type: "answer", status: 429 }],
  ["503", { type: "answer", status: 503 }],
  ["a reset", { type: "reset" }],
  ["a page that is no list", { type: "change", json: () => ({ page: "down for maintenance" }) }],
] as const;

/** A real server tells of kinds that come and go in its own time. */
const PATIENT = { timeout: 300_000 };

/** Real time, and how many timers wait. */
function countingClock(): Clock & { readonly pending: number } {
  let pending = 0;
  return {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic(),
    after(ms, fn) {
      pending++;
      let open = true;
      const close = () => {
        if (open) pending--;
        open = false;
      };
      const cancel = systemClock.after(ms, () => {
        close();
        fn();
      });
      return () => {
        close();
        cancel();
      };
    },
    get pending() {
      return pending;
    },
  };
}

describeOn(clustersUnderTest(), "kinds that come and go", (cluster) => {
  const stage = useStage(cluster, "comings");
  const { start, eventually, logs } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const told = (message: string) => logs.filter((line) => line.message === message);
  const remove = (name = `guests.${GROUP}`) => client.delete(CustomResourceDefinition, name, { wait: true });
  const install = async (crd: KubeBody = Guest.crd() as KubeBody) => {
    const name = crd.metadata?.name ?? "";
    // What a test that failed has left must not fail the next one.
    await remove(name).catch((error) => {
      if (!(error instanceof NotFoundError)) throw error;
    });
    await client.create(crd);
    await client.wait(CustomResourceDefinition, name, "condition=Established");
  };
  const guest = (name: string) =>
    eventually(() => client.create(new Guest({ metadata: { name }, spec: {} })) as Promise<unknown>);

  it.each([
    ["by its name", `guests.${GROUP}`],
    ["by its class", Guest],
  ] as const)("are handled again at once when they come back, declared %s", async (_, kind) => {
    await install();
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(kind, { id: "welcome" }, ({ name }) => void seen.push(name));
    await start(operator, { crds: "wait" });
    await guest("first");
    await eventually(() => expect(seen).toEqual(["first"]));
    for (const name of ["second", "third"]) {
      await remove();
      await install();
      await guest(name);
      await eventually(() => expect(seen.at(-1)).toBe(name));
    }
    await remove();
    expect(seen).toEqual(["first", "second", "third"]);
  });

  it("leave nothing behind: no stream, no timer, no measure, nothing in health", async () => {
    // What is left behind by one kind is seen with some; what grows with each coming, in the second round.
    const [rounds, count] = cluster().kind === "real" ? [1, 20] : [2, 30];
    const wire = await Wire.to(client);
    const clock = countingClock();
    const operator = new Operator({ name: "op", settings: { posting: { events: "none" } } });
    const seen: string[] = [];
    operator.on.create(everything.in({ group: GROUP }), { id: "welcome" }, ({ name }) => void seen.push(name));
    operator.timer(everything.in({ group: GROUP }), { id: "tick", interval: "1h" }, () => {});
    const running = await start(operator, { client: wire.client, clock, crds: "wait" });
    const watches = () => wire.watching.filter((path) => path.includes(GROUP)).length;
    const streams = () => running.health().streams.filter(({ kind }) => kind.startsWith("Kcoming")).length;
    const measures = () =>
      running
        .metrics()
        .split("\n")
        .filter((line) => line.includes("Kcoming")).length;
    await eventually(() => expect(wire.watching.some((path) => path.endsWith("customresourcedefinitions"))).toBe(true));
    const timers = clock.pending;
    expect([watches(), streams(), measures()]).toEqual([0, 0, 0]);

    for (let round = 0; round < rounds; round++) {
      const plurals = Array.from({ length: count }, (_, i) => `coming${round}x${i}s`);
      const crds = await client.create(
        plurals.map((plural) => client.object<CustomResourceDefinition>(definition(plural))),
      );
      await eventually(() => expect([watches(), streams()]).toEqual([count, count]));
      await client.create({ apiVersion: `${GROUP}/v1`, kind: `Kcoming${round}x0`, metadata: { name: `in-${round}` } });
      await eventually(() => expect(seen.at(-1)).toBe(`in-${round}`));
      expect(measures()).toBeGreaterThan(count);
      expect(clock.pending).toBeGreaterThan(timers + count / 2);

      await Promise.all(crds.map((crd) => client.delete(crd, { wait: true })));
      await eventually(() => expect([watches(), streams()]).toEqual([0, 0]));
      await eventually(() => expect(clock.pending).toBeLessThanOrEqual(timers));
      expect(measures()).toBe(0);
    }
  }, 300_000);

  it.each(FAULTS)(
    "are found, and what is known is handled, although discovery ended with %s",
    PATIENT,
    async (_, fault) => {
      await install();
      const wire = await Wire.to(client);
      const operator = new Operator({ name: "op" });
      const seen: string[] = [];
      operator.on.create(everything.in({ group: GROUP }), { id: "welcome" }, ({ name }) => void seen.push(name));
      const running = await start(operator, { client: wire.client, crds: "wait" });
      // Discovery of a real server may be behind: the kind has to be known before nothing more can be found out.
      await guest("before");
      await eventually(() => expect(seen).toEqual(["before"]));
      seen.length = 0;
      let broken = true;
      wire.fault = ({ path }): WireFault | undefined =>
        broken && (path === "/api" || path === "/apis") ? fault : undefined;
      await install(definition("strangers"));
      await eventually(() => expect(running.health().discovery).toEqual(expect.any(String)));
      await guest("known");
      await eventually(() => expect(seen).toEqual(["known"]));
      expect(running.health().phase).toBe("ready");
      broken = false;
      await client.create({ apiVersion: `${GROUP}/v1`, kind: "Kstranger", metadata: { name: "new" } });
      await eventually(() => expect(seen).toEqual(["known", "new"]));
      expect(told("the kinds of the cluster cannot be found out, those that are known are handled")).toHaveLength(1);
      await remove();
      await remove(`strangers.${GROUP}`);
    },
  );

  const waiting = "are waited for at the start when discovery ends with %s, which is told once";
  it.each(FAULTS)(waiting, PATIENT, async (_, fault) => {
    await install();
    const wire = await Wire.to(client);
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.create(`guests.${GROUP}`, { id: "welcome" }, ({ name }) => void seen.push(name));
    let tries = 0;
    wire.fault = ({ path }) => {
      if (path !== "/api" && path !== "/apis") return undefined;
      return ++tries <= 4 ? fault : undefined;
    };
    await start(operator, { client: wire.client, crds: "wait" });
    await guest("one");
    await eventually(() => expect(seen).toEqual(["one"]));
    expect(
      told("the kinds of the cluster could not be found out, will be tried again").map(({ level }) => level),
    ).toEqual(["warn", "debug"]);
    await remove();
  });
});
