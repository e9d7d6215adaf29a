/** Rules that the API server itself enforces, declared by an operator. */
import {
  type Client,
  ConfigMap,
  type KubeBody,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  NotFoundError,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "@lotse/client";
import { Operator, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

const Machine = resource({
  group: "ruled.example.com",
  version: "v1",
  kind: "Machine",
  spec: z.object({ size: z.number().int().optional(), owner: z.string().optional() }),
});

describeOn(clustersUnderTest(), "admission policies", (cluster) => {
  const stage = useStage(cluster, "ruled");
  const { start, eventually, logs } = stage;
  let client: Client;
  let tests = 0;
  let operator: Operator;

  beforeEach(() => {
    ({ client } = stage);
    operator = new Operator({ name: `ruler-${++tests}`, settings: { posting: { events: "none" } } });
  });

  const create = (name: string, spec: typeof Machine.Spec = {}) =>
    client.create(new Machine({ metadata: { name }, spec }));
  const nameOf = (id: string) => `${id}.${operator.name}.lotse.dev`;
  const told = (message: string) => logs.filter((line) => line.message === message);
  const uninstall = async () => {
    const kinds = [
      ValidatingAdmissionPolicyBinding.description,
      ValidatingAdmissionPolicy.description,
      MutatingAdmissionPolicyBinding.description,
      MutatingAdmissionPolicy.description,
    ];
    for (const kind of kinds) {
      const labelSelector = { "lotse.dev/operator": operator.name };
      for await (const one of client.list(kind, { labelSelector })) await one.delete();
    }
  };

  it("refuse what breaks a rule, with its message and reason, and no webhook is asked", async () => {
    operator.policy(Machine, {
      id: "sizeLimit",
      rules: [
        { expression: "!has(object.spec.size) || object.spec.size <= 100", message: "no machine is that large" },
        {
          expression: "!has(object.spec.owner) || object.spec.owner != 'nobody'",
          messageExpression: "'not for ' + object.spec.owner",
          reason: "Forbidden",
        },
      ],
    });
    const running = await start(operator);
    const by = `ValidatingAdmissionPolicy '${nameOf("size-limit")}' with binding '${nameOf("size-limit")}' denied request`;
    await eventually(() => expect(create("large", { size: 101 })).rejects.toThrow(`${by}: no machine is that large`));
    await expect(create("large", { size: 101 })).rejects.toMatchObject({ status: 422, reason: "Invalid" });
    await expect(create("free", { owner: "nobody" })).rejects.toMatchObject({
      message: expect.stringContaining("not for nobody"),
      status: 403,
    });
    await create("small", { size: 1 });
    expect(running.health().webhooks).toBeUndefined();
    await running.stop();
    // Nothing of it depends on the operator: it stays in force until it is uninstalled.
    await expect(create("large", { size: 101 })).rejects.toThrow("no machine is that large");
    await uninstall();
  });

  it("change objects where that is asked for", async () => {
    operator.policy(Machine, {
      id: "fill",
      mutate: [
        { apply: "Object{spec: Object.spec{size: has(object.spec.size) ? object.spec.size : 10}}" },
        { patch: '[JSONPatch{op: "add", path: "/metadata/annotations", value: {"filled": "yes"}}]' },
      ],
    });
    await start(operator);
    let number = 0;
    await eventually(async () => {
      const { spec, annotations } = await create(`one-${++number}`);
      expect([spec.size, annotations.filled]).toEqual([10, "yes"]);
    });
    await uninstall();
  });

  it("go by params that are in the cluster", async () => {
    await client.create(ConfigMap.gen({ name: "limits", data: { most: "5" } }));
    operator.policy(Machine, {
      id: "params",
      rules: [
        {
          expression: "!has(object.spec.size) || object.spec.size <= variables.most",
          messageExpression: "'at most ' + string(variables.most)",
        },
      ],
      variables: { most: "int(params.data.most)" },
      params: { kind: ConfigMap, name: "limits", namespace: stage.namespace },
    });
    await start(operator);
    await eventually(() => expect(create("six", { size: 6 })).rejects.toThrow("at most 5"));
    await create("five", { size: 5 });
    await uninstall();
  });

  it("only warn where that is asked for", async () => {
    operator.policy(Machine, { id: "warn", rules: [{ expression: "false", message: "beware" }], enforce: "warn" });
    await start(operator);
    expect((await client.get(ValidatingAdmissionPolicyBinding, nameOf("warn"))).body).toMatchObject({
      spec: { validationActions: ["Warn"] },
    });
    await create("one");
    await uninstall();
  });

  it("are put back when another client changes them, and go when the operator has them no longer", async () => {
    operator.policy(Machine, { id: "first", rules: [{ expression: "true", message: "a" }] });
    operator.policy(Machine, { id: "second", rules: [{ expression: "true", message: "b" }] });
    const running = await start(operator);
    const edited = { spec: { validations: [{ expression: "false", message: "edited" }] } };
    const stranger = client.with({ fieldManager: "a-stranger" });
    await stranger.patch(ValidatingAdmissionPolicy, nameOf("first"), edited as never);
    await eventually(async () => {
      const { body } = await client.get(ValidatingAdmissionPolicy, nameOf("first"));
      expect((body as KubeBody & { spec: object }).spec).toMatchObject({ validations: [{ message: "a" }] });
    });
    expect(
      told("another client has changed what this operator has registered, it is put back")[0]?.fields,
    ).toMatchObject({
      what: expect.stringMatching(/^the policy "first" \(.*admission-policies\.test\.ts:\d+\)$/),
      by: "a-stranger",
    });
    await running.stop();
    const next = new Operator({ name: operator.name, settings: { posting: { events: "none" } } });
    next.policy(Machine, { id: "first", rules: [{ expression: "true", message: "a" }] });
    await start(next);
    await eventually(() =>
      expect(client.get(ValidatingAdmissionPolicy, nameOf("second"))).rejects.toThrow(NotFoundError),
    );
    expect((await client.get(ValidatingAdmissionPolicy, nameOf("first"))).name).toBe(nameOf("first"));
    await uninstall();
  });

  it("go with the operator's last one, when only handlers are left", async () => {
    operator.policy(Machine, { id: "gone", rules: [{ expression: "true" }] });
    await (await start(operator)).stop();
    const next = new Operator({ name: operator.name, settings: { posting: { events: "none" } } });
    next.on.validate(Machine, { id: "check" }, () => {});
    await start(next, { webhooks: { port: 0 } });
    await expect(client.get(ValidatingAdmissionPolicy, nameOf("gone"))).rejects.toThrow(NotFoundError);
    await expect(client.get(ValidatingAdmissionPolicyBinding, nameOf("gone"))).rejects.toThrow(NotFoundError);
  });

  it("whose expression does not compile end the start with the words of the API server", async () => {
    operator.policy(Machine, { id: "broken", rules: [{ expression: "object.spec.size <" }] });
    await expect(start(operator)).rejects.toMatchObject({
      code: "LOTSE_REGISTRATION",
      message: expect.stringMatching(
        /^the API server refuses the policy "broken" \(scenarios\/admission-policies\.test\.ts:\d+\): .*spec\.validations\[0\]\.expression.*Syntax error/s,
      ),
      hint: "change its declaration; lotse check finds such mistakes before the start",
    });
    await stage.running.pop()?.stopped.catch(() => undefined);
  });
});
