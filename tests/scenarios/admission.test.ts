/** Requests that an operator judges before they are stored: the API server asks it over TLS. */
import {
  Client,
  ConfigMap,
  CustomResourceDefinition,
  type KubeBody,
  MutatingWebhookConfiguration,
  NotFoundError,
  Secret,
  ValidatingWebhookConfiguration,
} from "@lotse/client";
import { AdmissionError, Operator, PermanentError, present, resource, TemporaryError, uninstallOperator } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const GROUP = "judged.example.com";

const Machine = resource({
  group: GROUP,
  version: "v1",
  kind: "Machine",
  spec: z.object({
    size: z.number().optional(),
    owner: z.string().optional(),
    tags: z.array(z.string()).optional(),
  }),
  status: z.object({ phase: z.string().optional() }),
});

type Spec = typeof Machine.Spec;

/** Any free port, and the address of this machine. */
const webhooks = { port: 0 };

describeOn(clustersUnderTest(), "admission", (cluster) => {
  const stage = useStage(cluster, "judged");
  const { start, eventually, logs } = stage;
  let client: Client;
  let tests = 0;
  let operator: Operator;

  beforeEach(() => {
    ({ client } = stage);
    // A name of its own for each test: what it registers is gone when it stops, and a real server is slow to notice.
    operator = new Operator({ name: `judge-${++tests}`, settings: { posting: { events: "none" } } });
  });

  const machine = (name: string, spec: Spec = {}, metadata: object = {}) =>
    new Machine({ metadata: { name, ...metadata }, spec });
  const create = (name: string, spec?: Spec, metadata?: object) => client.create(machine(name, spec, metadata));
  const told = (message: string) => logs.filter((line) => line.message === message);
  const webhookName = (label: string) => `${label}.${operator.name}.lotse.dev`;
  /** A real server hears of new webhooks a moment later. */
  const inForce = (name = "probe") => eventually(() => expect(create(name, { size: 666 })).rejects.toThrow("probed"));
  const probed = () => {
    operator.on.validate(Machine, { id: "probe", order: -1 }, ({ spec }) => {
      if (spec.size === 666) throw new AdmissionError("probed");
    });
  };
  const begin = async (options = {}) => {
    probed();
    const running = await start(operator, { webhooks, ...options });
    await inForce();
    return running;
  };
  const configuration = (name = `${operator.name}.lotse.dev`) => client.get(ValidatingWebhookConfiguration, name);
  const reviews = (text: string) =>
    Object.fromEntries(
      [...text.matchAll(/lotse_admission_reviews_total\{handler="([^"]+)",type="\w+",outcome="([^"]+)"\} (\d+)/g)].map(
        ([, handler, outcome, count]) => [`${handler} ${outcome}`, Number(count)],
      ),
    );

  it("refuses what a handler refuses, with its message, code, reason and causes", async () => {
    operator.on.validate(Machine, function checkSize({ spec, operation, name, namespace }) {
      if (spec.owner === "permanent") throw new PermanentError("never");
      if (spec.owner === "temporary") throw new TemporaryError("not now");
      if ((spec.size ?? 0) <= 100) return;
      throw new AdmissionError(`${operation} ${namespace}/${name}: no machine is that large`, {
        causes: [{ field: "spec.size", message: "must be at most 100", reason: "FieldValueInvalid" }],
      });
    });
    await begin();
    const denied = `admission webhook "${webhookName("check-size")}" denied the request: `;
    await expect(create("large", { size: 101 })).rejects.toMatchObject({
      message: expect.stringContaining(`${denied}CREATE ${stage.namespace}/large: no machine is that large`),
      status: 422,
      reason: "Invalid",
      details: { causes: [{ field: "spec.size", message: "must be at most 100", reason: "FieldValueInvalid" }] },
    });
    await expect(create("never", { owner: "permanent" })).rejects.toMatchObject({ status: 403, reason: "Forbidden" });
    await expect(create("later", { owner: "temporary" })).rejects.toMatchObject({ status: 503 });
    const small = await create("small", { size: 1 });
    await expect(small.patch({ spec: { size: 1_000 } })).rejects.toThrow(`${denied}UPDATE`);
    expect((await client.get(Machine, "small")).spec.size).toBe(1);
    expect(told("request refused").at(-1)).toMatchObject({ object: { kind: "Machine", name: "small" } });
  });

  it("says nothing of an error that was not meant for clients, and all of it in the log", async () => {
    operator.on.validate(Machine, function look({ spec }) {
      if (spec.owner === "crash") throw new TypeError("password is 123");
    });
    await begin();
    const message = "the handler look failed, the log of the operator says why";
    await expect(create("crash", { owner: "crash" })).rejects.toMatchObject({
      message: expect.stringContaining(message),
      status: 500,
    });
    expect(told("handler failed, the request is refused")).toMatchObject([
      {
        level: "warn",
        object: { kind: "Machine", namespace: stage.namespace, name: "crash" },
        fields: { handler: "look", error: "password is 123", stack: expect.stringContaining("admission.test.ts") },
      },
    ]);
  });

  it("stores what handlers make of an object, in the order that they ask for", async () => {
    const seen: string[] = [];
    operator.on.mutate(Machine, { order: 2 }, function last({ spec, patch }) {
      seen.push(`last ${spec.tags?.join()}`);
      patch.spec.tags = [...(spec.tags ?? []), "last"];
    });
    operator.on.mutate(Machine, function first({ spec, patch, operation, userInfo }) {
      seen.push(`first ${spec.tags?.join()}`);
      if (operation === "CREATE") patch.metadata.annotations["example.com/by"] = userInfo.username;
      patch.spec.size = spec.size ?? 10;
      patch.spec.owner = null;
      patch.metadata.labels["example.com/tier"] = "gold";
      patch.transform((body) => void body.spec.tags?.unshift("first"));
    });
    await begin();
    const made = await create("one", { owner: "ann", tags: ["sent"] });
    expect(made.spec).toEqual({ size: 10, tags: ["first", "sent", "last"] });
    expect(made.labels).toEqual({ "example.com/tier": "gold" });
    expect(made.annotations).toEqual({ "example.com/by": expect.stringMatching(/./) });
    expect(seen.slice(-2)).toEqual(["first sent", "last first,sent"]);
  });

  it("shows handlers who asks for what, whether it is stored, and what was before", async () => {
    const seen: unknown[] = [];
    operator.on.validate(
      Machine,
      { operations: ["CREATE", "UPDATE", "DELETE"], param: "given" },
      function watch({ operation, old, new: now, diff, dryRun, request, headers, param, uid, object }) {
        if (object.name === "probe") return;
        seen.push([operation, old?.spec.size, now?.spec.size, diff.filter(({ path }) => path[0] === "spec"), dryRun]);
        expect(request.userInfo.groups).toContain("system:authenticated");
        expect(headers["user-agent"]).toContain("kube-apiserver-admission");
        expect(request.source).toMatch(/127\.0\.0\.1|::1/);
        expect(request.options.kind).toMatch(/Options$/);
        expect([param, uid === "", object instanceof Machine]).toEqual(["given", false, true]);
      },
    );
    await begin();
    await client.create(machine("one", { size: 1 }), { dryRun: true });
    const one = await create("one", { size: 1 });
    await one.patch({ spec: { size: 2 } });
    await one.delete();
    expect(seen).toEqual([
      ["CREATE", undefined, 1, expect.anything(), true],
      ["CREATE", undefined, 1, expect.anything(), false],
      ["UPDATE", 1, 2, [{ op: "change", path: ["spec", "size"], old: 1, new: 2 }], false],
      ["DELETE", 2, undefined, expect.anything(), false],
    ]);
  });

  it("shows clients the warnings of handlers", async () => {
    operator.on.validate(Machine, function caution({ spec, warn, warnings }) {
      if (spec.size === undefined) return;
      warn(`size ${spec.size} is deprecated`);
      warnings.push("and another");
      if (spec.size === 3) throw new AdmissionError("no");
    });
    await begin();
    const warned: string[] = [];
    const listening = await Client.connect({
      kubeconfig: cluster().kubeconfigPath,
      namespace: stage.namespace,
      onWarning: (text) => void warned.push(text),
    });
    await listening.create(machine("two", { size: 2 }));
    await expect(listening.create(machine("three", { size: 3 }))).rejects.toThrow("no");
    await listening.close();
    expect(warned).toEqual(["size 2 is deprecated", "and another", "size 3 is deprecated", "and another"]);
  });

  it("is asked for nothing that the API server can leave out by itself", async () => {
    const seen: string[] = [];
    const note = (label: string) => () => void seen.push(label);
    operator.on.validate(Machine, { id: "labels", labels: { tier: "gold", old: present } }, note("labels"));
    operator.on.validate(Machine, { id: "annotations", annotations: { "example.com/x": "1" } }, note("annotations"));
    operator.on.validate(Machine, { id: "field", field: "spec.owner" }, note("field"));
    operator.on.validate(Machine, { id: "value", field: "spec.size", value: 5 }, note("value"));
    operator.on.validate(Machine, { id: "updates", operations: ["UPDATE"] }, note("updates"));
    operator.on.validate(Machine, { id: "status", subresource: "status", operations: ["UPDATE"] }, note("status"));
    operator.on.validate(Machine, { id: "cel", matchConditions: ["object.metadata.name == 'three'"] }, note("cel"));
    const running = await begin();
    seen.length = 0;
    await create("one", { size: 5 });
    await create("two", { owner: "ann" }, { labels: { tier: "gold", old: "1" } });
    const three = await create("three", {}, { annotations: { "example.com/x": "1" }, labels: { tier: "silver" } });
    await three.patch({ status: { phase: "New" } }, { subresource: "status" });
    expect(seen).toEqual(
      ["value", "labels", "field", "annotations", "cel", "status"].sort((a, b) => order(seen, a, b)),
    );
    expect(new Set(seen)).toEqual(new Set(["value", "labels", "field", "annotations", "cel", "status"]));
    expect(Object.keys(reviews(running.metrics())).filter((key) => key.endsWith("passed over"))).toEqual([]);
  });

  it("judges the object and all its subresources where a star stands for them", async () => {
    const seen: unknown[] = [];
    operator.on.validate(Machine, { subresource: "*" }, function all({ subresource, name }) {
      if (name !== "probe") seen.push(subresource);
    });
    await begin();
    const one = await create("one");
    await one.patch({ status: { phase: "New" } }, { subresource: "status" });
    expect(seen).toEqual([undefined, "status"]);
  });

  it("knows the notes of objects and the operator's indexes", async () => {
    const sizes = operator.index(Machine, { id: "sizes" }, ({ spec, name }) => ({ [String(spec.size)]: name }));
    const seen: unknown[] = [];
    operator.on.event(Machine, function note({ memo, name }) {
      memo.noted = name;
    });
    operator.on.validate(
      Machine,
      { operations: ["CREATE", "UPDATE", "DELETE"] },
      function unique({ memo, indexes, spec, name, operation }) {
        if (name === "probe") return;
        seen.push([operation, memo.noted, memo.general]);
        if (operation === "CREATE") memo.noted = "lost";
        const taken = indexes(sizes)
          .get(String(spec.size))
          .filter((other) => other !== name);
        if (taken.length > 0) throw new AdmissionError(`${taken} has this size`, { code: 409 });
      },
    );
    await begin({ memo: { general: "yes" } });
    const one = await create("one", { size: 1 });
    await eventually(() => expect(create("two", { size: 1 })).rejects.toMatchObject({ status: 409 }));
    await stage.quiet();
    await one.patch({ spec: { size: 2 } });
    await one.delete();
    expect(seen.filter((one) => (one as string[])[0] !== "CREATE")).toEqual([
      ["UPDATE", "one", "yes"],
      ["DELETE", "one", "yes"],
    ]);
    expect(seen[0]).toEqual(["CREATE", undefined, "yes"]);
  });

  it("gives handlers a client of their own, whose requests end with the API server's patience", async () => {
    let aborted = false;
    operator.on.validate(Machine, { timeout: "1s" }, async function slow({ spec, signal, client: own, name }) {
      if (spec.owner !== "slow") return;
      await own.create(ConfigMap.gen({ name: `seen-${name}` }));
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      aborted = true;
    });
    await begin();
    await expect(create("one", { owner: "slow" })).rejects.toThrow(/failed calling webhook|did not answer in time/);
    await eventually(() => expect(aborted).toBe(true));
    expect((await client.get(ConfigMap, "seen-one")).name).toBe("seen-one");
  });

  it("registers itself, and is forgotten when it stops, but for what is persistent", async () => {
    operator.on.mutate(Machine, function fill() {});
    operator.on.validate(Machine, { persistent: true, ignoreFailures: true }, function keep() {});
    const running = await begin();
    const { body } = await configuration();
    expect(body).toMatchObject({
      metadata: { labels: { "lotse.dev/operator": operator.name } },
      webhooks: [{ name: webhookName("probe") }, { name: webhookName("keep"), failurePolicy: "Ignore" }],
    });
    expect(body.metadata?.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([
      [`${operator.name}-admission`, "Apply"],
    ]);
    await running.stop();
    expect(((await configuration()).body as { webhooks?: object[] }).webhooks).toMatchObject([
      { name: webhookName("keep") },
    ]);
    await expect(client.get(MutatingWebhookConfiguration, `${operator.name}.lotse.dev`)).rejects.toThrow(NotFoundError);
    expect(told("webhooks are no longer registered, because nothing will answer")).toHaveLength(2);
    await client.delete(ValidatingWebhookConfiguration, `${operator.name}.lotse.dev`);
  });

  it("puts back what another client changes in its configuration, and says who", async () => {
    await begin();
    const { body } = await configuration();
    const [webhook] = (body as unknown as { webhooks: { clientConfig: { caBundle: string }; name: string }[] })
      .webhooks;
    const edit = [
      { op: "replace", path: "/webhooks/0/clientConfig/caBundle", value: Buffer.from("nonsense").toString("base64") },
      { op: "add", path: "/webhooks/0/matchConditions", value: [{ name: "never", expression: "false" }] },
    ];
    const stranger = client.with({ fieldManager: "a-stranger" });
    // An API server refuses a bundle that is none: then only the condition is changed.
    await stranger.patch(ValidatingWebhookConfiguration, body.metadata?.name ?? "", edit as never).catch(async () => {
      await stranger.patch(ValidatingWebhookConfiguration, body.metadata?.name ?? "", edit.slice(1) as never);
    });
    await eventually(async () => {
      const now = (await configuration()).body as unknown as {
        webhooks: { matchConditions?: object[]; clientConfig: object }[];
      };
      expect(now.webhooks[0]?.matchConditions ?? []).toEqual([]);
      expect(now.webhooks[0]?.clientConfig).toEqual(webhook?.clientConfig);
    });
    expect(told("another client has changed what this operator has registered, it is put back")).toMatchObject([
      {
        level: "warn",
        fields: {
          what: `the ValidatingWebhookConfiguration ${operator.name}.lotse.dev`,
          change: "edited",
          by: "a-stranger",
          times: 1,
        },
      },
    ]);
    await client.delete(ValidatingWebhookConfiguration, `${operator.name}.lotse.dev`);
    await eventually(async () => expect(await configuration()).toBeDefined());
    await inForce("again");
  });

  it("writes its configuration once, and not again while it is as it should be", async () => {
    operator.on.mutate(Machine, { id: "fill" }, ({ patch }) => {
      patch.metadata.labels.seen = "yes";
    });
    await begin();
    await create("one");
    await stage.quiet();
    const writes = (await cluster().writes()).filter(({ name }) => name === `${operator.name}.lotse.dev`);
    expect(writes.map(({ verb, resource }) => [verb, resource])).toEqual([
      ["patch", "validatingwebhookconfigurations.admissionregistration.k8s.io"],
      ["patch", "mutatingwebhookconfigurations.admissionregistration.k8s.io"],
    ]);
  });

  it("follows kinds that come later", async () => {
    operator.on.validate(`gizmos.${GROUP}`, function check({ spec }) {
      if (spec.size === 13) throw new AdmissionError("unlucky");
    });
    await begin();
    expect(told("waiting for a kind that the cluster does not have")[0]?.fields).toMatchObject({
      kind: `gizmos.${GROUP}`,
    });
    const Gizmo = resource({ group: GROUP, version: "v1", kind: "Gizmo", spec: z.object({ size: z.number() }) });
    const crd = Gizmo.crd() as KubeBody;
    await client.create(crd);
    await eventually(() =>
      expect(client.create(new Gizmo({ metadata: { name: "one" }, spec: { size: 13 } }))).rejects.toThrow("unlucky"),
    );
    await client.delete(CustomResourceDefinition, `gizmos.${GROUP}`);
  });

  it("is uninstalled with its policies and certificates, before its marks are taken off", async () => {
    operator.on.validate(Machine, { persistent: true }, function keep() {
      throw new AdmissionError("never");
    });
    operator.policy(Machine, { id: "rule", rules: [{ expression: "true" }] });
    const running = await start(operator, { webhooks });
    await running.stop();
    const secret = Secret.gen({
      name: "certificates",
      labels: { "lotse.dev/webhook-certificates": operator.name },
      data: {},
    });
    await client.create(secret);
    const took = async (dryRun: boolean) => {
      const names: string[] = [];
      for await (const { kind, name, marks } of uninstallOperator(operator, client, { dryRun })) {
        names.push(`${kind.kind} ${name} ${marks}`);
      }
      return names.sort();
    };
    const all = [
      `Lease ${operator.name}-registered registration`,
      "Secret certificates registration",
      `ValidatingAdmissionPolicy rule.${operator.name}.lotse.dev registration`,
      `ValidatingAdmissionPolicyBinding rule.${operator.name}.lotse.dev registration`,
      `ValidatingWebhookConfiguration ${operator.name}.lotse.dev registration`,
    ];
    expect(await took(true)).toEqual(all);
    expect(await took(false)).toEqual(all);
    expect(await took(false)).toEqual([]);
    await expect(configuration()).rejects.toThrow(NotFoundError);
  });

  it("tells how it is: in health, in metrics, and at its own address", async () => {
    const running = await begin();
    expect(running.health().webhooks).toMatchObject({ serving: true, certificate: { problem: undefined } });
    const text = running.metrics();
    expect(text).toMatch(/controller_runtime_webhook_requests_total\{webhook="\/validate\/probe",code="200"\} \d+/);
    expect(text).toMatch(/controller_runtime_webhook_latency_seconds_count\{webhook="\/validate\/probe"\} \d+/);
    expect(text).toMatch(/lotse_webhook_certificate_remaining_seconds \d+/);
    expect(reviews(text)).toMatchObject({ "probe refused": expect.any(Number) });
    await running.stop();
    expect(running.health().webhooks?.serving).toBe(false);
  });
});

/** Validating webhooks of one request are asked at the same time: their order among themselves means nothing. */
function order(seen: readonly string[], a: string, b: string): number {
  return seen.indexOf(a) - seen.indexOf(b);
}
