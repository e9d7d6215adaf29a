/** Mistakes around requests and versions: what each of them gets, in exact words. */
import { request as httpsRequest } from "node:https";
import { Client, CustomResourceDefinition, type KubeBody, ValidatingWebhookConfiguration } from "@lotse/client";
import { AdmissionError, Operator, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const GROUP = "mistakes.example.com";

const Machine = resource({
  group: GROUP,
  version: "v1",
  kind: "Machine",
  spec: z.object({ size: z.number().optional() }),
});

const webhooks = { port: 0 };

describeOn(clustersUnderTest(), "mistakes around requests", (cluster) => {
  const stage = useStage(cluster, "mistakes");
  const { start, eventually, logs } = stage;
  let client: Client;
  let tests = 0;
  let operator: Operator;

  beforeEach(() => {
    ({ client } = stage);
    operator = new Operator({ name: `clumsy-${++tests}`, settings: { posting: { events: "none" } } });
  });

  const create = (name: string, size?: number) =>
    client.create(new Machine({ metadata: { name }, spec: size === undefined ? {} : { size } }));
  const told = (message: string) => logs.filter((line) => line.message === message);

  it.each<[string, (patch: never) => void, string]>([
    [
      "the name",
      (patch) => Object.assign(patch, { metadata: { name: "other" } }),
      "change metadata.name, which no webhook may change",
    ],
    [
      "the uid",
      (patch) => Object.assign(patch, { metadata: { uid: "other" } }),
      "change metadata.uid, which no webhook may change",
    ],
    ["the kind", (patch) => Object.assign(patch, { kind: "Other" }), "change kind, which says what the object is"],
    [
      "nothing of the object",
      (patch) => Object.assign(patch, { colour: "red" }),
      "write colour, which Machine does not have",
    ],
    [
      "a field that there is not",
      (patch) => Object.assign(patch, { spec: { sizze: 1 } }),
      "write spec.sizze, which Machine does not have",
    ],
  ])("a mutating handler that changes %s: the request is refused", async (_, change, why) => {
    operator.on.mutate(Machine, function fill({ patch }) {
      change(patch as never);
    });
    await start(operator, { webhooks });
    const message = `admission webhook "fill.${operator.name}.lotse.dev" denied the request: the handler fill wants to ${why}`;
    let number = 0;
    await eventually(() => expect(create(`one-${++number}`)).rejects.toThrow(message));
    expect(told("a handler wants to change what it cannot, the request is refused").at(-1)).toMatchObject({
      level: "error",
      fields: {
        handler: "fill",
        why: `the handler fill wants to ${why}`,
        hint: "a mutating handler changes labels, annotations, finalizers, owner references, and what its kind has",
      },
    });
  });

  it("a webhook for a kind that does not exist: it is told, and judges when the kind is there", async () => {
    const Gadget = resource({ group: GROUP, version: "v1", kind: "Gadget", spec: z.object({ size: z.number() }) });
    operator.on.validate(Gadget, function never({ spec }) {
      if (spec.size > 1) throw new AdmissionError("too large");
    });
    await start(operator, { webhooks, crds: "wait" });
    expect(
      told("requests are judged for a kind that the cluster does not have, none will come before it does"),
    ).toMatchObject([
      {
        level: "warn",
        fields: {
          kind: `gadgets.${GROUP}`,
          handlers: "never",
          hint: 'install its CRD, or start the operator with crds: "install"',
        },
      },
    ]);
    await client.create(Gadget.crd() as KubeBody);
    await eventually(() =>
      expect(client.create(new Gadget({ metadata: { name: "one" }, spec: { size: 2 } }))).rejects.toThrow("too large"),
    );
    await client.delete(CustomResourceDefinition, `gadgets.${GROUP}`);
  });

  it("two handlers with one name: where the second is declared", () => {
    operator.on.validate(Machine, { id: "check" }, () => {});
    expect(() => operator.on.validate(Machine, { id: "check" }, () => {})).toThrow(
      /^handler id "check" is used twice for machines\.v1\.mistakes\.example\.com \(first at scenarios\/admission-bad-input\.test\.ts:\d+\) at scenarios\/admission-bad-input\.test\.ts:\d+$/,
    );
  });

  it("two handlers with one name for one kind under two names: at the start", async () => {
    operator.on.validate(Machine, { id: "check" }, () => {});
    operator.on.validate(`machines.${GROUP}`, { id: "check" }, () => {});
    await client.create(Machine.crd() as KubeBody).catch(() => undefined);
    await expect(start(operator, { webhooks })).rejects.toThrow(
      'handler id "check" is used twice for Machine, which was declared under two names',
    );
    await stage.running.pop()?.stopped.catch(() => undefined);
  });

  it("a definition that drops a version in which objects are stored: at the start", async () => {
    const old = { group: GROUP, kind: "Widget", spec: z.object({ size: z.number() }) };
    const before = resource({ ...old, version: "v1beta1" });
    await client.create(before.crd() as KubeBody);
    await client.wait(CustomResourceDefinition, `widgets.${GROUP}`, "condition=Established");
    operator.on.validate(resource({ ...old, version: "v1" }), { id: "check" }, () => {});
    await expect(start(operator, { webhooks })).rejects.toMatchObject({
      code: "LOTSE_STORED_VERSION",
      message: `widgets.${GROUP} cannot be without v1beta1: objects may still be stored in it`,
      hint: `keep the version, run lotse migrate widgets.${GROUP}, and drop it then`,
    });
    await stage.running.pop()?.stopped.catch(() => undefined);
    await client.delete(CustomResourceDefinition, `widgets.${GROUP}`);
  });

  it("a conversion that is missing: at the start", async () => {
    const Gizmo = resource({
      group: GROUP,
      kind: "Gizmo",
      versions: {
        v1beta1: { spec: z.object({ small: z.number() }) },
        v1: { spec: z.object({ size: z.number() }), storage: true },
      },
      convert: "on.convert",
    });
    operator.on.create(Gizmo, function make() {});
    await expect(start(operator, { webhooks })).rejects.toMatchObject({
      message: "Gizmo v1beta1 has no conversion to v1",
      hint: 'declare operator.on.convert(Gizmo, "v1beta1", { to, from })',
    });
    await stage.running.pop()?.stopped.catch(() => undefined);
  });

  it("a conversion that changes the name: the client is told which, and nothing is stored", async () => {
    const Gizmo = resource({
      group: GROUP,
      kind: "Gizmo",
      versions: {
        v1beta1: { spec: z.object({ small: z.number() }) },
        v1: { spec: z.object({ size: z.number() }), storage: true },
      },
      convert: "on.convert",
    });
    operator.on.convert(Gizmo, "v1beta1", {
      to: (old) => ({ ...old, metadata: { ...old.metadata, name: "other" }, spec: { size: old.spec.small } }),
      from: ({ spec }) => ({ spec: { small: spec.size } }),
    });
    await start(operator, { webhooks });
    const Old = Gizmo.version("v1beta1");
    await eventually(() =>
      expect(client.create(new Old({ metadata: { name: "one" }, spec: { small: 1 } }))).rejects.toThrow(
        new RegExp(`conversion webhook for ${GROUP}/v1beta1, Kind=Gizmo failed: .*metadata\\.name`),
      ),
    );
    const line = told("objects could not be converted").at(-1);
    expect(line?.level).toBe("error");
    expect(line?.fields.runId).toMatch(/^[0-9a-z]{5}-[0-9a-z]+$/);
    await client.delete(CustomResourceDefinition, `gizmos.${GROUP}`);
  });

  it("requests that are no reviews, and paths that lead nowhere: 4xx with a sentence", async () => {
    operator.on.validate(Machine, { id: "check" }, () => {});
    await start(operator, { webhooks });
    const { body } = await client.get(ValidatingWebhookConfiguration, `${operator.name}.lotse.dev`);
    const { webhooks: entries } = body as unknown as {
      webhooks: { clientConfig: { url: string; caBundle: string } }[];
    };
    const { url = "", caBundle = "" } = entries[0]?.clientConfig ?? {};
    const post = (path: string, text: string) =>
      new Promise<[number, string]>((resolve, reject) => {
        const call = httpsRequest(new URL(path, url), {
          method: "POST",
          ca: Buffer.from(caBundle, "base64"),
          headers: { "content-type": "application/json" },
        });
        call.on("error", reject).on("response", (response) => {
          let answer = "";
          response.setEncoding("utf8").on("data", (chunk) => {
            answer += chunk;
          });
          response.on("end", () => resolve([response.statusCode ?? 0, JSON.parse(answer).message]));
        });
        call.end(text);
      });
    expect(await post("/validate/check", "{}")).toEqual([
      400,
      "the body is not an AdmissionReview of admission.k8s.io/v1, but nothing of nothing",
    ]);
    expect(await post("/elsewhere", "{}")).toEqual([404, 'there is nothing at "/elsewhere"']);
    const review = {
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      request: {
        uid: "1",
        operation: "CREATE",
        kind: { group: GROUP, version: "v1", kind: "Machine" },
        resource: { group: GROUP, version: "v1", resource: "machines" },
        userInfo: {},
        object: {},
      },
    };
    const unknown = 'this operator has no validate handler "other"';
    expect(await post("/validate/other", JSON.stringify(review))).toEqual([404, unknown]);
    expect((await create("fine")).name).toBe("fine");
  });

  it("an API server that cannot reach the operator: an error at the start that says what to do", async () => {
    operator.on.validate(Machine, { id: "check" }, () => {});
    const transport = { request: () => Promise.reject(new Error("nothing is asked")), close: async () => {} };
    const far = await Client.connect({ url: "http://cluster.example.com:8080", transport });
    await expect(operator.start({ client: far, log: () => {} }).ready).rejects.toMatchObject({
      message:
        "The operator has webhooks, and the API server at cluster.example.com:8080 has no way to reach this machine that is known.",
      hint: "Say one with --webhook-url https://NAME:PORT (or webhooks: { url }), run the operator in the cluster, or use lotse dev.",
    });
  });
});
