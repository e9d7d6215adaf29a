/** Kopf's example of admission, retold in examples/kopf/17-admission.ts: what it answers. */
import { type ApiError, Client } from "@lotse/client";
import { afterEach, beforeEach, expect, it } from "vitest";
import admission from "../../examples/kopf/17-admission.ts";
import { KopfExample } from "../../examples/kopf/kopf-example.ts";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

describeOn(clustersUnderTest(), "Kopf's example of admission", (cluster) => {
  const stage = useStage(cluster, "kopf-admission");
  const warnings: string[] = [];
  let client: Client;

  const example = (field?: string, labels: Record<string, string> = {}) =>
    new KopfExample({ metadata: { generateName: "kex-", labels }, spec: field === undefined ? {} : { field } });
  const refusal = (request: Promise<unknown>): Promise<Pick<ApiError, "message" | "status">> =>
    request.then(
      () => ({ message: "accepted", status: 200 }),
      ({ message, status }: ApiError) => ({ message, status }),
    );

  beforeEach(async () => {
    warnings.length = 0;
    client = await Client.connect({
      kubeconfig: cluster().kubeconfigPath,
      namespace: stage.namespace,
      onWarning: (text) => void warnings.push(text),
    });
    await stage.start(admission, { webhooks: { port: 0 } });
    // A real API server hears of new webhooks a moment later.
    await stage.eventually(async () => {
      const answers = await Promise.all(["wrong", "not-allowed"].map((one) => refusal(client.create(example(one)))));
      expect(answers.map(({ message }) => message)).not.toContain("accepted");
      const changed = await client.create(example("a", { somelabel: "somevalue" }), { dryRun: true });
      expect(changed.spec.injected).toBe(123);
    });
    warnings.length = 0;
  });

  afterEach(() => client.close());

  it("refuses a wrong field, but not in a dry run", async () => {
    expect(await refusal(client.create(example("wrong")))).toMatchObject({
      message: expect.stringContaining("this field is wrong: change it"),
    });
    expect(await refusal(client.create(example("wrong"), { dryRun: true }))).toMatchObject({ message: "accepted" });
  });

  it("refuses a value that its filter names, with the handler's own code", async () => {
    expect(await refusal(client.create(example("not-allowed")))).toMatchObject({
      status: 555,
      message: expect.stringContaining("nothing of the sort is allowed here"),
    });
  });

  it("warns of who asks, and of a status that does not follow", async () => {
    await client.create(example("value"));
    expect(warnings).toContainEqual(expect.stringMatching(/^the API server calls as .+/));
    expect(warnings).toContain("it has shown no certificate");
    expect(warnings).toContain("status.field should follow: it is undefined, and spec.field is value");
  });

  it("judges the status, too", async () => {
    const { name } = await client.create(example("value"));
    const write = (field: string) =>
      refusal(client.patch(KopfExample, name, { status: { field } }, { subresource: "status" }));
    await stage.eventually(async () => expect((await write("other")).message).not.toBe("accepted"));
    expect(await write("other")).toMatchObject({
      message: expect.stringContaining("status.field has to be the same as spec.field"),
    });
    expect(await write("value")).toMatchObject({ message: "accepted" });
  });

  it("changes what has the label, and nothing else", async () => {
    expect((await client.create(example("value", { somelabel: "somevalue" }))).spec.injected).toBe(123);
    expect((await client.create(example("value", { somelabel: "another" }))).spec.injected).toBeUndefined();
  });
});
