/** Webhooks of an operator that runs in its cluster, behind a Service. What is the same at a URL is in tests/scenarios. */
import {
  Client,
  CustomResourceDefinition,
  type KubeBody,
  Namespace,
  NotFoundError,
  Secret,
  ValidatingWebhookConfiguration,
} from "@lotse/client";
import { CertificateAuthority } from "@lotse/client/certificates";
import { Cluster } from "@lotse/cluster";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { AdmissionError, resource, type ValidateOptions, type WebhookOptions } from "../declare/index.ts";
import { Logger, type LogRecord } from "../report/index.ts";
import { Operator } from "./operator.ts";
import type { RunningOperator } from "./options.ts";
import { UntoldAuthority } from "./untold-authority.ts";

const GROUP = "behind.example.com";

const Machine = resource({
  group: GROUP,
  version: "v1",
  kind: "Machine",
  spec: z.object({ size: z.number().optional() }),
});

const SYSTEM = "shop-system";

/** An authority that another operator has, base64. */
const STRANGER = Buffer.from(new CertificateAuthority("a stranger", Date.now()).certPem).toString("base64");

describe("webhooks behind a Service", () => {
  let cluster: Cluster;
  let client: Client;
  let tests = 0;
  let name = "";
  let logs: LogRecord[] = [];
  const ending: RunningOperator[] = [];

  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false });
    client = await Client.connect({ kubeconfig: cluster.kubeconfig as never });
    for (const namespace of [SYSTEM, "shops"]) await client.create(Namespace.gen({ name: namespace }));
    await client.create(Machine.crd() as KubeBody);
    await vi.waitFor(() => client.list(Machine, { namespace: "*" }).toArray(), { timeout: 170_000 });
  });

  beforeEach(() => {
    name = `op-${++tests}`;
    logs = [];
  });

  afterEach(async () => {
    await Promise.all(ending.splice(0).map((one) => one.stop()));
    // What stays when an operator stops would refuse the requests of the next test.
    for await (const one of client.list(ValidatingWebhookConfiguration)) await one.delete();
  });

  afterAll(async () => {
    await client?.close();
    await cluster?.stop();
  });

  const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 170_000, interval: 20 });
  const told = (message: string) => logs.filter((line) => line.message === message);
  const create = (object: string, size: number, namespace = "shops") =>
    client.create(new Machine({ metadata: { name: `${name}-${object}`, namespace }, spec: { size } }));

  /** A pod of the operator; the Service leads to the newest. */
  async function pod(options: Partial<ValidateOptions<KubeBody>> = {}, more: Partial<WebhookOptions> = {}) {
    const operator = new Operator({ name, settings: { posting: { events: "none" } } });
    operator.on.validate(Machine, { id: "check", ...(options as object) }, ({ spec }) => {
      if ((spec.size ?? 0) > 100) throw new AdmissionError(`too large for ${name}`);
    });
    const running = operator.start({
      client,
      log: (line) => void logs.push(line),
      webhooks: { port: 0, service: { namespace: SYSTEM, name }, ...more },
    });
    ending.push(running);
    await running.ready;
    const port = told("the webhook server listens").at(-1)?.fields.port as number;
    cluster.services.route(`${SYSTEM}/${name}`, port);
    return running;
  }

  const configuration = () => client.get(ValidatingWebhookConfiguration, `${name}.lotse.dev`);

  it("are believed by the API server, with a certificate that replicas share", async () => {
    await pod();
    const secret = await client.get(Secret, `${name}-webhooks`, { namespace: SYSTEM });
    expect(secret.labels["lotse.dev/webhook-certificates"]).toBe(name);
    await expect(create("one", 101)).rejects.toThrow(`too large for ${name}`);
    const { body } = await configuration();
    await pod();
    await expect(create("two", 101)).rejects.toThrow(`too large for ${name}`);
    expect((await client.get(Secret, `${name}-webhooks`, { namespace: SYSTEM })).body).toEqual(secret.body);
    expect((await configuration()).body.metadata?.resourceVersion).toBe(body.metadata?.resourceVersion);
  });

  it("stay registered when the operator stops: a restart opens no hole", async () => {
    const first = await pod();
    await first.stop();
    expect((await configuration()).body).toMatchObject({ webhooks: [{ name: `check.${name}.lotse.dev` }] });
    await expect(create("meanwhile", 101)).rejects.toThrow(`failed calling webhook "check.${name}.lotse.dev"`);
    await pod();
    await expect(create("after", 101)).rejects.toThrow(`too large for ${name}`);
    await create("small", 1);
  });

  it("go with the operator where that is asked for", async () => {
    const running = await pod({ persistent: false });
    await running.stop();
    await expect(configuration()).rejects.toThrow(NotFoundError);
    await create("unjudged", 101);
  });

  it("judge nothing in kube-system and in the operator's own namespace, unless asked to", async () => {
    await pod();
    await create("own", 101, SYSTEM);
    await create("system", 101, "kube-system");
    await expect(create("other", 101)).rejects.toThrow("too large");
    name = `${name}-all`;
    await pod({ namespaces: "all" });
    await expect(create("own", 101, SYSTEM)).rejects.toThrow(`too large for ${name}`);
  });

  it("are answered and not registered where manifests do that, and people are told whom the API server has to believe", async () => {
    await pod({}, { register: false });
    await expect(configuration()).rejects.toThrow(NotFoundError);
    expect(told("the webhook server listens")).toHaveLength(1);
    const [line] = told("the operator registers nothing: whoever does has to say that its authority is believed");
    expect(line?.fields).toEqual({
      secret: `${SYSTEM}/${name}-webhooks`,
      key: "ca.crt",
      hint: `its caBundle is: kubectl get secret -n ${SYSTEM} ${name}-webhooks -o jsonpath='{.data.ca\\.crt}'`,
    });
    // What the hint prints, in a manifest of somebody else.
    const { body } = await client.get(Secret, `${name}-webhooks`, { namespace: SYSTEM });
    const service = { namespace: SYSTEM, name, path: "/validate/check", port: 443 };
    await client.create({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: `${name}-theirs` },
      webhooks: [
        {
          name: "check.theirs.example.com",
          clientConfig: { service, caBundle: body.data?.["ca.crt"] },
          rules: [{ operations: ["*"], apiGroups: [GROUP], apiVersions: ["*"], resources: ["machines"] }],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    } as never);
    await expect(create("by-manifest", 101)).rejects.toThrow(`too large for ${name}`);
  });

  it("do not start where the authority is in memory and nothing registers it", async () => {
    const operator = new Operator({ name, settings: { posting: { events: "none" } } });
    operator.on.validate(Machine, { id: "check" }, () => {});
    const running = operator.start({ client, log: () => {}, webhooks: { port: 0, register: false } });
    await expect(running.ready).rejects.toThrow(
      "The operator makes its own certificate, keeps it in memory, and is told not to register its webhooks: no API server would believe it.",
    );
    await expect(running.stopped).rejects.toMatchObject({ hint: expect.stringContaining("certificates: { dir }") });
  });

  it("leave conversions to those who install definitions, which is the operator where it is told to", async () => {
    const Grown = resource({
      group: GROUP,
      kind: "Grown",
      versions: {
        v1beta1: { spec: z.object({ size: z.string() }) },
        v1: { spec: z.object({ size: z.number() }), storage: true },
      },
      convert: {
        v1beta1: {
          to: ({ spec }) => ({ spec: { size: Number(spec.size) } }),
          from: ({ spec }) => ({ spec: { size: String(spec.size) } }),
        },
      },
    });
    const operator = new Operator({ name, crds: "install", settings: { posting: { events: "none" } } });
    operator.on.create(Grown, function grow() {});
    const running = operator.start({
      client,
      log: (line) => void logs.push(line),
      webhooks: { port: 0, register: false },
    });
    ending.push(running);
    await running.ready;
    const definition = async () => (await client.get(CustomResourceDefinition, `growns.${GROUP}`)).body;
    const { caBundle } = (await definition()).spec.conversion?.webhook?.clientConfig ?? {};
    const edit = [{ op: "replace", path: "/spec/conversion/webhook/clientConfig/caBundle", value: STRANGER }];
    await client.patch(CustomResourceDefinition, `growns.${GROUP}`, edit as never);
    await eventually(async () =>
      expect((await definition()).spec.conversion?.webhook?.clientConfig?.caBundle).toBe(caBundle),
    );
    await client.create(new Grown({ metadata: { name: "one" }, spec: { size: 7 } }));
    expect((await client.get(Grown.version("v1beta1"), "one")).spec).toEqual({ size: "7" });
  });

  it("have an authority whose change is told, once", () => {
    const lines: LogRecord[] = [];
    const logger = new Logger(
      (line) => lines.push(line),
      () => 0,
    );
    const untold = new UntoldAuthority({ namespace: "zoo", secret: "hooks" }, {}, logger);
    for (const bundle of ["a", "a", "a b", "a b"]) untold.tell(bundle);
    expect(lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      "info: the operator registers nothing: whoever does has to say that its authority is believed",
      "warn: the authority of the webhook server has changed: whoever has registered it has to follow",
    ]);
  });

  it("make the operator ready when the API server knows of them, and it waits until it may tell", async () => {
    const operator = new Operator({ name, settings: { posting: { events: "none" } } });
    operator.on.validate(Machine, { id: "check" }, () => {});
    let allowed = false;
    const patch = client.with({
      onRequest: ({ method, path }) => {
        if (!allowed && method === "PATCH" && path.includes("webhookconfigurations")) throw new Error("not yet");
      },
    });
    const running = operator.start({
      client: patch,
      log: (line) => void logs.push(line),
      webhooks: { port: 0, service: { namespace: SYSTEM, name } },
    });
    ending.push(running);
    await expect
      .poll(() => told("the operator could not be registered with the API server, will be tried again")[0]?.fields)
      .toMatchObject({ error: "not yet" });
    expect(running.health()).toMatchObject({ phase: "starting", webhooks: { serving: true } });
    allowed = true;
    await running.ready;
    expect(running.health().phase).toBe("ready");
  });
});
