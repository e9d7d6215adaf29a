import { type Client, Secret } from "@lotse/client";
import { systemClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Logger, type LogRecord } from "../../report/index.ts";
import { ownCertificates } from "./own.ts";
import { CERTIFICATES_LABEL, SecretStore } from "./store.ts";

const { signal } = new AbortController();
let cluster: Cluster;
let client: Client;

beforeAll(async () => {
  cluster = await Cluster.start({ tls: false });
  client = await cluster.connect();
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

function own(secret: string, operator = "op") {
  const log: LogRecord[] = [];
  const logger = new Logger(
    (record) => log.push(record),
    () => Date.now(),
  );
  const source = ownCertificates({
    client,
    namespace: "default",
    secret,
    operator,
    names: ["hooks.default.svc"],
    clock: systemClock,
    random: Math.random,
    logger,
    signal,
  });
  return { source, log };
}

describe("the Secret of the certificates", () => {
  it("is of the type that all read, is known as ours, and is made once for all replicas", async () => {
    const replicas = [own("shared"), own("shared"), own("shared")];
    await Promise.all(replicas.map(({ source }) => source.ready));
    const secret = await client.get(Secret, "shared", { namespace: "default" });
    expect(secret.body.type).toBe("kubernetes.io/tls");
    expect(secret.labels).toMatchObject({ [CERTIFICATES_LABEL]: "op", "app.kubernetes.io/managed-by": "lotse" });
    expect(Object.keys(secret.data).sort()).toEqual(["ca.crt", "ca.key", "tls.crt", "tls.key"]);
    for (const { source } of replicas) {
      expect(source.current().credentials.cert).toBe(secret.decoded["tls.crt"]);
      expect(source.current().caBundle).toBe(secret.decoded["ca.crt"]);
    }
    await Promise.all(replicas.map(({ source }) => source.stop()));
  });

  it("of another operator, or of a person, is neither used nor replaced", async () => {
    await client.create(Secret.gen({ name: "theirs", namespace: "default", stringData: { "tls.crt": "x" } }));
    for (const [name, operator] of [
      ["theirs", "op"],
      ["shared", "another"],
    ] as const) {
      const before = await client.get(Secret, name, { namespace: "default" });
      const { source } = own(name, operator);
      await expect(source.ready).rejects.toThrow(
        `The Secret default/${name} is not one of this operator: it is neither used nor replaced.`,
      );
      const after = await client.get(Secret, name, { namespace: "default" });
      expect(after.body).toEqual(before.body);
      await source.stop();
    }
  });

  it("is filled where an administrator has prepared an empty one, whose metadata stays", async () => {
    const labels = { [CERTIFICATES_LABEL]: "op", team: "blue" };
    await client.create(Secret.gen({ name: "prepared", namespace: "default", labels }));
    const { source } = own("prepared");
    await source.ready;
    const secret = await client.get(Secret, "prepared", { namespace: "default" });
    expect(secret.labels).toEqual(labels);
    expect(secret.decoded["tls.crt"]).toBe(source.current().credentials.cert);
    await source.stop();
  });

  it("is written only by who has seen the newest version, and only created where there is none", async () => {
    const [a, b] = [1, 2].map(() => new SecretStore(client, "default", "raced", "op")) as [SecretStore, SecretStore];
    expect(await a.read(signal)).toBeUndefined();
    expect(await a.write({ "tls.crt": "1", "tls.key": "1" }, undefined, signal)).toBe(true);
    expect(await b.write({ "tls.crt": "2", "tls.key": "2" }, undefined, signal)).toBe(false);
    const [seenByA, seenByB] = [await a.read(signal), await b.read(signal)];
    expect(await b.write({ "tls.crt": "3", "tls.key": "3" }, seenByB?.version, signal)).toBe(true);
    expect(await a.write({ "tls.crt": "4", "tls.key": "4" }, seenByA?.version, signal)).toBe(false);
    expect((await a.read(signal))?.texts).toEqual({ "tls.crt": "3", "tls.key": "3" });
    await client.delete(Secret, "raced", { namespace: "default" });
    expect(await a.write({ "tls.crt": "5", "tls.key": "5" }, seenByA?.version, signal)).toBe(false);
  });
});
