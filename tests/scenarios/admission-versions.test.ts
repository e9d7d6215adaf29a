/** Kinds with several versions: the operator converts their objects for as long as any client may ask. */
import { type Client, CustomResourceDefinition, type KubeBody } from "@lotse/client";
import { AdmissionError, Operator, resource } from "lotse";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const GROUP = "versions.example.com";
const NAME = `gizmos.${GROUP}`;

const Gizmo = resource({
  group: GROUP,
  kind: "Gizmo",
  versions: {
    v1beta1: { spec: z.object({ small: z.number() }) },
    v1: { spec: z.object({ size: z.number(), colour: z.string().optional() }), storage: true },
  },
  convert: "on.convert",
});
const Old = Gizmo.version("v1beta1");

const webhooks = { port: 0 };

describeOn(clustersUnderTest(), "versions", (cluster) => {
  const stage = useStage(cluster, "versions");
  const { start, eventually, logs } = stage;
  let client: Client;
  let tests = 0;
  let operator: Operator;

  beforeEach(() => {
    ({ client } = stage);
    operator = new Operator({ name: `converter-${++tests}`, settings: { posting: { events: "none" } } });
    operator.on.convert(Gizmo, "v1beta1", {
      to: ({ spec }) => ({ spec: { size: spec.small } }),
      from: ({ spec }) => ({ spec: { small: spec.size } }),
    });
  });

  afterEach(async () => {
    await client.delete(CustomResourceDefinition, NAME, { ignoreNotFound: true, wait: "30s" });
  });

  const definition = () => client.get(CustomResourceDefinition, NAME);

  it("are converted by the operator that installs their definition, and handlers see one of them", async () => {
    const seen: unknown[] = [];
    operator.on.create(Gizmo, function make({ spec }) {
      seen.push(spec);
    });
    operator.on.validate(Gizmo, function check({ spec, request }) {
      if (spec.size > 100) throw new AdmissionError(`${request.requestKind.version}: too large`);
    });
    await start(operator, { webhooks });
    expect((await definition()).body.spec?.conversion).toMatchObject({
      strategy: "Webhook",
      webhook: {
        clientConfig: { url: expect.stringMatching(new RegExp(`^https://127\\.0\\.0\\.1:\\d+/convert/${NAME}$`)) },
      },
    });
    await eventually(
      () => client.create(new Old({ metadata: { name: "old" }, spec: { small: 3 } })) as Promise<unknown>,
    );
    await client.create(new Gizmo({ metadata: { name: "new" }, spec: { size: 4, colour: "red" } }));
    expect((await client.get(Gizmo, "old")).spec).toEqual({ size: 3 });
    expect((await client.get(Old, "new")).spec).toEqual({ small: 4 });
    await eventually(() => expect(seen).toEqual(expect.arrayContaining([{ size: 3 }, { size: 4, colour: "red" }])));
    // What the older version cannot hold travels along.
    await client.patch(Old, "new", { spec: { small: 5 } });
    expect((await client.get(Gizmo, "new")).spec).toEqual({ size: 5, colour: "red" });
    // Requests in any version are judged, in the version of the class.
    await eventually(() =>
      expect(client.create(new Old({ metadata: { name: "large" }, spec: { small: 101 } }))).rejects.toThrow(
        "v1beta1: too large",
      ),
    );
  });

  it("are converted where another client has installed the definition, also when it is edited", async () => {
    await client.create(Gizmo.crd() as KubeBody);
    await client.wait(CustomResourceDefinition, NAME, "condition=Established");
    operator.on.create(Gizmo, function make() {});
    await start(operator, { webhooks, crds: "wait" });
    const { body } = await definition();
    expect(body.spec?.conversion?.strategy).toBe("Webhook");
    const stranger = client.with({ fieldManager: "a-stranger" });
    await stranger.patch(CustomResourceDefinition, NAME, {
      spec: { conversion: { strategy: "None", webhook: null } },
    } as never);
    await eventually(async () => expect((await definition()).body.spec?.conversion).toEqual(body.spec?.conversion));
    expect(
      logs.find(({ message }) => message.startsWith("another client has changed what this operator"))?.fields,
    ).toMatchObject({ what: `the conversion of ${NAME}`, change: "edited", by: "a-stranger" });
  });

  it("are converted until the last handler has ended", async () => {
    let converted: unknown;
    operator.daemon(Gizmo, async function follow({ signal }) {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      converted = (await client.get(Old, "one")).spec;
    });
    const running = await start(operator, { webhooks });
    await eventually(
      () => client.create(new Gizmo({ metadata: { name: "one" }, spec: { size: 1 } })) as Promise<unknown>,
    );
    await stage.quiet();
    await running.stop();
    expect(converted).toEqual({ small: 1 });
    await expect(client.get(Old, "one", { timeout: "5s" } as object)).rejects.toThrow(/conversion webhook for/);
    await client.delete(Gizmo, "one");
  });
});
