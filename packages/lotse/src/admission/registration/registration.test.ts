import { Client, type KubeBody, NotFoundError, ValidatingWebhookConfiguration } from "@lotse/client";
import { systemClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { registeredLabels } from "../../declare/index.ts";
import { Logger, type LogRecord } from "../../report/index.ts";
import { type Registered, Registration, type RegistrationPlan } from "./registration.ts";

const { description: kind } = ValidatingWebhookConfiguration;

describe("registration", () => {
  let cluster: Cluster;
  let client: Client;
  let operator = "";
  let tests = 0;
  let logs: LogRecord[] = [];

  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false });
    client = await Client.connect({ kubeconfig: cluster.kubeconfig as never });
  });

  beforeEach(() => {
    operator = `op-${++tests}`;
    logs = [];
  });

  afterAll(async () => {
    await client?.close();
    await cluster?.stop();
  });

  const configuration = (caBundle: string, ...ids: string[]): Registered => ({
    kind,
    title: "the webhooks",
    body: {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: kind.kind,
      metadata: { name: `${operator}.lotse.dev`, labels: { ...registeredLabels(operator) } },
      webhooks: ids.map((id) => ({
        name: `${id}.${operator}.lotse.dev`,
        clientConfig: { url: "https://127.0.0.1:1/", caBundle: Buffer.from(caBundle).toString("base64") },
        rules: [
          { operations: ["CREATE"], apiGroups: [operator], apiVersions: ["v1"], resources: ["things"], scope: "*" },
        ],
        failurePolicy: "Fail",
        matchPolicy: "Equivalent",
        sideEffects: "None",
        timeoutSeconds: 1,
        admissionReviewVersions: ["v1"],
      })),
    } as KubeBody,
  });

  const live = async () => {
    const { body } = await client.get(ValidatingWebhookConfiguration, `${operator}.lotse.dev`);
    return (body as unknown as { webhooks: { name: string; clientConfig: { caBundle: string } }[] }).webhooks.map(
      ({ name, clientConfig }) => `${name.split(".")[0]} ${Buffer.from(clientConfig.caBundle, "base64")}`,
    );
  };

  const told = (message: string) => logs.filter((line) => line.message === message).map(({ fields }) => fields);

  /** A process of the operator. */
  function register(first: readonly Registered[]) {
    let wanted = first;
    const stop = new AbortController();
    const plan = (): RegistrationPlan => ({ wanted, queries: [{ kind, labels: registeredLabels(operator) }] });
    const registration = new Registration({
      operator,
      client: client.with({ fieldManager: operator }),
      clock: systemClock,
      random: () => 0.5,
      logger: new Logger(
        (line) => logs.push(line),
        () => 0,
      ),
      signal: stop.signal,
      plan,
    });
    const end = async () => {
      stop.abort();
      await registration.end();
    };
    onTestFinished(end);
    const want = (...next: Registered[]) => {
      wanted = next;
      registration.renew();
    };
    return { registration, want, end };
  }

  const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 170_000, interval: 10 });
  const writes = () =>
    cluster.requests.filter(({ verb, name }) => verb === "patch" && name === `${operator}.lotse.dev`).length;

  it("follows what is wanted: another authority, more entries, none at all", async () => {
    const { registration, want } = register([configuration("one", "a")]);
    await registration.begin();
    expect(await live()).toEqual(["a one"]);
    want(configuration("two", "a", "b"));
    await eventually(async () => expect(await live()).toEqual(["a two", "b two"]));
    want(configuration("two", "b"));
    await eventually(async () => expect(await live()).toEqual(["b two"]));
    want();
    await eventually(() => expect(live()).rejects.toThrow(NotFoundError));
  });

  it("writes nothing when all is as wanted, also after a restart", async () => {
    const first = register([configuration("one", "a")]);
    await first.registration.begin();
    await first.end();
    const before = writes();
    const second = register([configuration("one", "a")]);
    await second.registration.begin();
    second.registration.renew();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(writes() - before).toBe(0);
  });

  it("puts back what others change, slower each time, and names them", async () => {
    const { registration } = register([configuration("one", "a")]);
    await registration.begin();
    const stranger = client.with({ fieldManager: "a-stranger" });
    for (const round of [1, 2]) {
      const edit = [{ op: "replace", path: "/webhooks/0/timeoutSeconds", value: 20 + round }];
      await stranger.patch(ValidatingWebhookConfiguration, `${operator}.lotse.dev`, edit as never);
      await eventually(() => {
        const put = told("another client has changed what this operator has registered, it is put back");
        expect(put.at(-1)).toMatchObject({ by: "a-stranger", times: round, nextAfter: round === 1 ? "1s" : "3s" });
      });
    }
  });

  it("is not fought for with a newer version of the operator", async () => {
    const old = register([configuration("one", "a")]);
    await old.registration.begin();
    const next = register([configuration("one", "a", "b")]);
    await next.registration.begin();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await live()).toEqual(["a one", "b one"]);
    expect(told("another client has changed what this operator has registered, it is put back")).toEqual([]);
  });

  it("is withdrawn, but for what stays, and not from another process that has taken over", async () => {
    const first = register([configuration("one", "a", "b")]);
    await first.registration.begin();
    await first.end();
    await first.registration.withdraw([configuration("one", "b")], new AbortController().signal);
    expect(await live()).toEqual(["b one"]);
    const second = register([configuration("two", "a")]);
    await second.registration.begin();
    await second.end();
    await first.registration.withdraw([], new AbortController().signal);
    expect(await live()).toEqual(["a two"]);
    await second.registration.withdraw([], new AbortController().signal);
    await expect(live()).rejects.toThrow(NotFoundError);
  });

  it("leaves entries of others in its configuration alone", async () => {
    const { registration, want } = register([configuration("one", "a")]);
    await registration.begin();
    const [theirs] = (configuration("theirs", "theirs").body as unknown as { webhooks: object[] }).webhooks;
    const edit = [{ op: "add", path: "/webhooks/-", value: theirs }];
    await client.patch(ValidatingWebhookConfiguration, `${operator}.lotse.dev`, edit as never);
    want(configuration("two", "a"));
    await eventually(async () => expect(await live()).toEqual(["a two", "theirs theirs"]));
  });

  it("ends with the words of the API server when it refuses something", async () => {
    const wrong = configuration("one", "a");
    const body = {
      ...wrong.body,
      webhooks: [{ ...(wrong.body as never as { webhooks: object[] }).webhooks[0], sideEffects: "Some" }],
    };
    const { registration } = register([{ ...wrong, body: body as KubeBody }]);
    await expect(registration.begin()).rejects.toMatchObject({
      code: "LOTSE_REGISTRATION",
      message: expect.stringMatching(/^the API server refuses the webhooks: .*sideEffects/),
    });
  });

  it("goes on where the role does not allow to remove what a former version has left, and says so once", async () => {
    const name = `former.${operator}.lotse.dev`;
    const { body } = configuration("a", "gone");
    await client.apply({ ...body, metadata: { ...body.metadata, name } } as never, { fieldManager: "former" });
    using _ = cluster.faults.add({ match: { verb: "delete", resource: `${kind.plural}.${kind.group}` }, status: 403 });
    const { registration, want } = register([configuration("a", "check")]);
    await registration.begin();
    const message = "what a former version of the operator has registered is still there";
    expect(told(message)).toMatchObject([
      { name, hint: `remove it: kubectl delete ${kind.plural}.${kind.group} ${name}` },
    ]);
    want(configuration("b", "check"));
    await vi.waitFor(async () => expect(await live()).toEqual(["check b"]), 10_000);
    expect(told(message)).toHaveLength(1);
    expect(registration.problem).toBeUndefined();
  });
});
