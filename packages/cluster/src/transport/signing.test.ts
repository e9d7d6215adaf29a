import { generateKeyPairSync, sign, X509Certificate } from "node:crypto";
import { request as httpsRequest } from "node:https";
import { bits, explicit, implicit, octets, oid, sequence, setOf, unsigned, utf8 } from "@lotse/client/certificates";
import { VirtualClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call } from "../test-requests.ts";

const PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const CLIENT = "kubernetes.io/kube-apiserver-client";
const KUBELET = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING = "kubernetes.io/kubelet-serving";
const HOUR_MS = 3_600_000;

interface Wanted {
  readonly name: string;
  readonly groups?: readonly string[];
  readonly hosts?: readonly string[];
}

/** A request as `openssl req` writes it, with the key that signed it. */
function ask({ name, groups = [], hosts = [] }: Wanted) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const attribute = (type: string, value: string) => setOf(sequence(oid(type), utf8(value)));
  const subject = sequence(...groups.map((group) => attribute("2.5.4.10", group)), attribute("2.5.4.3", name));
  const altNames = octets(sequence(...hosts.map((host) => implicit(2, Buffer.from(host)))));
  const extensions = setOf(sequence(sequence(oid("2.5.29.17"), altNames)));
  const info = sequence(
    unsigned(Buffer.from([0])),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    explicit(0, ...(hosts.length > 0 ? [sequence(oid("1.2.840.113549.1.9.14"), extensions)] : [])),
  );
  const der = sequence(info, sequence(oid("1.2.840.10045.4.3.2")), bits(sign("sha256", info, privateKey)));
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${der
    .toString("base64")
    .match(/.{1,64}/g)
    ?.join("\n")}\n-----END CERTIFICATE REQUEST-----\n`;
  return { request: Buffer.from(pem).toString("base64"), key: privateKey.export({ type: "pkcs8", format: "pem" }) };
}

const signingRequest = (signerName: string, usages: readonly string[], request: string, spec: object = {}) => ({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  metadata: { name: "r" },
  spec: { signerName, usages, request, ...spec },
});

async function approve(cluster: Cluster): Promise<void> {
  const { body } = await call(cluster, "GET", `${PATH}/r`);
  const conditions = [{ type: "Approved", status: "True", reason: "Test", message: "fine" }];
  const answer = await call(cluster, "PUT", `${PATH}/r/approval`, { body: { ...body, status: { conditions } } });
  expect(answer.status).toBe(200);
  await cluster.settle();
}

const read = async (cluster: Cluster) => (await call(cluster, "GET", `${PATH}/r`)).body;
const certificateOf = (status: { certificate: string }) =>
  new X509Certificate(Buffer.from(status.certificate, "base64"));

describe("a request for a certificate", () => {
  it("that is approved gets one, with which its owner gets in", async () => {
    await using cluster = await Cluster.start({ rbac: true });
    const { request, key } = ask({ name: "jane", groups: ["developers", "testers"] });
    await call(cluster, "POST", PATH, {
      body: signingRequest(CLIENT, ["client auth", "digital signature"], request, { expirationSeconds: 3_600 }),
    });
    await cluster.settle();
    expect((await read(cluster)).status).toEqual({});
    await approve(cluster);
    const { status } = await read(cluster);
    const pem = Buffer.from(status.certificate, "base64").toString();
    const certificate = new X509Certificate(pem);
    expect(certificate.checkIssued(new X509Certificate(cluster.caPem))).toBe(true);
    expect(certificate.subject.split("\n").sort()).toEqual(["CN=jane", "O=developers", "O=testers"]);
    expect(certificate.ca).toBe(false);
    // Begun five minutes before, to be over an hour after now.
    expect(Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)).toBe(65 * 60_000);

    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const answer = await new Promise<string>((resolve, reject) => {
      const sent = httpsRequest(
        {
          host: "127.0.0.1",
          port: cluster.port,
          ca: cluster.caPem,
          cert: pem,
          key,
          method: "POST",
          path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
          headers: { "content-type": "application/json" },
        },
        (response) => {
          let text = "";
          response.on("data", (chunk) => {
            text += chunk;
          });
          response.on("end", () => resolve(text));
        },
      );
      sent.on("error", reject);
      sent.end(JSON.stringify(body));
    });
    expect(JSON.parse(answer).status.userInfo).toMatchObject({
      username: "jane",
      groups: ["developers", "testers", "system:authenticated"],
    });
  });

  it("of a kubelet is approved by itself", async () => {
    await using cluster = await Cluster.start();
    const { request } = ask({ name: "system:node:a", groups: ["system:nodes"] });
    await call(cluster, "POST", PATH, {
      body: signingRequest(KUBELET, ["client auth", "digital signature"], request),
    });
    await cluster.settle();
    const { status } = await read(cluster);
    expect(status.conditions).toMatchObject([
      {
        type: "Approved",
        status: "True",
        reason: "AutoApproved",
        message: "Auto approving kubelet client certificate after SubjectAccessReview.",
      },
    ]);
    expect(certificateOf(status).subject).toContain("CN=system:node:a");
  });

  it("of a kubelet that nobody may have is not", async () => {
    await using cluster = await Cluster.start({ rbac: true });
    const { request } = ask({ name: "system:node:a", groups: ["system:nodes"] });
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const rules = [
      { apiGroups: ["certificates.k8s.io"], resources: ["certificatesigningrequests"], verbs: ["create"] },
    ];
    const meta = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: "askers" } };
    await call(cluster, "POST", `${rbac}/clusterroles`, { body: { ...meta, kind: "ClusterRole", rules } });
    await call(cluster, "POST", `${rbac}/clusterrolebindings`, {
      body: {
        ...meta,
        kind: "ClusterRoleBinding",
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "askers" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "mary" }],
      },
    });
    const { status } = await call(cluster, "POST", PATH, {
      headers: { "impersonate-user": "mary" },
      body: signingRequest(KUBELET, ["client auth", "digital signature"], request),
    });
    expect(status).toBe(201);
    await cluster.settle();
    expect((await read(cluster)).status).toEqual({});
  });

  it("for a server is good for the names that it asks for", async () => {
    await using cluster = await Cluster.start();
    const { request } = ask({ name: "system:node:a", groups: ["system:nodes"], hosts: ["a.example.com", "b"] });
    await call(cluster, "POST", PATH, {
      body: signingRequest(SERVING, ["server auth", "digital signature", "key encipherment"], request),
    });
    await approve(cluster);
    const certificate = certificateOf((await read(cluster)).status);
    expect(certificate.subjectAltName).toBe("DNS:a.example.com, DNS:b");
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  });

  it.each<[string, string, readonly string[], Wanted, string]>([
    [
      "a use of the key that clients have not",
      CLIENT,
      ["server auth"],
      { name: "a" },
      "invalid usage for client certificate: server auth",
    ],
    [
      "no use for clients",
      CLIENT,
      ["digital signature"],
      { name: "a" },
      "missing required usage for client certificate: client auth",
    ],
    ["no node", SERVING, ["server auth"], { name: "a" }, "subject organization is not system:nodes"],
    [
      "names for a client",
      KUBELET,
      ["client auth", "digital signature"],
      { name: "system:node:a", groups: ["system:nodes"], hosts: ["b"] },
      "DNS subjectAltNames are not allowed",
    ],
    [
      "no names for a server",
      SERVING,
      ["server auth", "digital signature"],
      { name: "system:node:a", groups: ["system:nodes"] },
      "DNS or IP subjectAltName is required",
    ],
    [
      "other uses for a server",
      SERVING,
      ["server auth"],
      { name: "system:node:a", groups: ["system:nodes"], hosts: ["b"] },
      "usages did not match [digital signature key encipherment server auth]",
    ],
  ])("fails with %s", async (_, signer, usages, wanted, message) => {
    await using cluster = await Cluster.start();
    await call(cluster, "POST", PATH, { body: signingRequest(signer, usages, ask(wanted).request) });
    await approve(cluster);
    const { status } = await read(cluster);
    expect(status.certificate).toBeUndefined();
    expect(status.conditions.at(-1)).toMatchObject({
      type: "Failed",
      status: "True",
      reason: "SignerValidationFailure",
      message,
    });
  });

  it("for a signer of somebody else's is left to them", async () => {
    await using cluster = await Cluster.start();
    const { request } = ask({ name: "a" });
    await call(cluster, "POST", PATH, { body: signingRequest("example.com/mine", ["client auth"], request) });
    await approve(cluster);
    expect((await read(cluster)).status.certificate).toBeUndefined();
  });

  it("is cleared away when nobody looks at it for a day, and an hour after it was answered", async () => {
    const clock = new VirtualClock();
    await using cluster = await Cluster.start({ clock });
    const { request } = ask({ name: "a" });
    const body = signingRequest(CLIENT, ["client auth"], request);
    await call(cluster, "POST", PATH, { body });
    await cluster.settle();
    await clock.advance(23 * HOUR_MS);
    await cluster.settle();
    expect((await call(cluster, "GET", `${PATH}/r`)).status).toBe(200);
    await clock.advance(HOUR_MS + 60_000);
    await cluster.settle();
    expect((await call(cluster, "GET", `${PATH}/r`)).status).toBe(404);
    await call(cluster, "POST", PATH, { body });
    await approve(cluster);
    await clock.advance(HOUR_MS + 60_000);
    await cluster.settle();
    expect((await call(cluster, "GET", `${PATH}/r`)).status).toBe(404);
  });
});
