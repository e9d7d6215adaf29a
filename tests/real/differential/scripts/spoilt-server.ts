import type { Script } from "../script.ts";
import {
  everywhere,
  type Fields,
  inNamespace,
  type Specimen,
  type StatusSpecimen,
  spoil,
  spoilStatus,
} from "./mutations.ts";

const REQUEST =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIcU1JR1JBZ0VBTUM4eEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVXTUJRR0ExVUVBd3dOYzNsegpkR1Z0T201dlpHVTZZVEJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSEEwSUFCQlJJdXNrQWNYWmVHOVd1CnVEMDd2SmhoNTVsOXlZNHpmRCs5Yk9pSU94SjJDQ2NDVXhPOFZ0YU91TS9wMW1RZmJMZjNXc1cvS1Y5bjFqZUUKM0JzM3dCaWdBREFLQmdncWhrak9QUVFEQWdOSUFEQkZBaUFTUjYvckdQLzRmTUZPR05tYStwaTExWUJOdFZIYQpFQjNISCtYd3BsOTdRQUloQUl1Q0ZZaW1IaTVySk15dTJWOWY4S1dtRTUxV3dRTXNhekVHSGRUbWJJV0YKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";
/** Signed by itself, for a hundred years. */
const CERTIFICATE = [
  "-----BEGIN CERTIFICATE-----",
  "MIIBdTCCARugAwIBAgIUch25rpTisOJaUtKB6phcLD/kq3QwCgYIKoZIzj0EAwIw",
  "DzENMAsGA1UEAwwEZGlmZjAgFw0yNjExMTcwNzU1MDdaGA8yMTI2MTAyNDA3NTUw",
  "N1owDzENMAsGA1UEAwwEZGlmZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBUF",
  "5gMbhzXJbfBUa62UAjgLBxxuN2+PJIc6JMJqaThdEe94KsJB3oXrAJjqf9um79/p",
  "Q1mcezHXtyN+ktAprNKjUzBRMB0GA1UdDgQWBBQkFP+5bpyv7rrE7NYCAxbLkkzf",
  "1jAfBgNVHSMEGDAWgBQkFP+5bpyv7rrE7NYCAxbLkkzf1jAPBgNVHRMBAf8EBTAD",
  "AQH/MAoGCCqGSM49BAMCA0gAMEUCIQC4KLVA5qQ+e4oHvz8cPohxsQbRpVwfwD81",
  "2Z3osCy8QAIgDPx5v/yUj+DSGD5ChnKhHGLlD9raVDuS/CSFF4a5nBQ=",
  "-----END CERTIFICATE-----",
  "",
].join("\n");
const regarding = { apiVersion: "v1", kind: "Pod", name: "p", namespace: "diff-spoilt-server" };

const specimens: readonly Specimen[] = [
  {
    ...everywhere("certificates.k8s.io/v1", "certificatesigningrequests", "CertificateSigningRequest"),
    name: "spoilt",
    // Each server has its own administrator.
    chosen: ["username", "uid", "groups", "extra"],
    good: {
      spec: {
        request: REQUEST,
        signerName: "example.com/signer",
        usages: ["digital signature", "client auth"],
        expirationSeconds: 3_600,
      },
    },
    also: {
      "a use that there is not": { spec: { request: REQUEST, signerName: "example.com/a", usages: ["walking"] } },
      "the old signer": { spec: { request: REQUEST, signerName: "kubernetes.io/legacy-unknown", usages: ["any"] } },
      "too short a time": {
        spec: { request: REQUEST, signerName: "example.com/a", usages: ["any"], expirationSeconds: 599 },
      },
    },
    onlyNew: true,
  },
  {
    ...inNamespace("v1", "events", "Event"),
    good: {
      involvedObject: regarding,
      reason: "Because",
      message: "text",
      type: "Normal",
      count: 1,
      source: { component: "c" },
    },
    also: { "another namespace": { involvedObject: { ...regarding, namespace: "other" } } },
    onlyNew: true,
  },
  {
    ...inNamespace("events.k8s.io/v1", "events", "Event"),
    label: "newer Event",
    good: {
      regarding,
      reason: "Because",
      note: "text",
      type: "Normal",
      action: "Do",
      eventTime: "2024-01-01T00:00:00.000000Z",
      reportingController: "example.com/c",
      reportingInstance: "i",
    },
    onlyNew: true,
  },
];

const text = (lines: string): string => Buffer.from(lines).toString("base64");
const signed = text(CERTIFICATE);
const condition = (type: string, more: Fields = {}): Fields => ({
  type,
  status: "True",
  reason: "Because",
  message: "text",
  lastUpdateTime: "2024-01-02T03:04:05Z",
  lastTransitionTime: "2024-01-02T03:04:05Z",
  ...more,
});
const conditions = (...list: Fields[]): Fields => ({ status: { conditions: list } });
const request = (name: string, more: Omit<StatusSpecimen, keyof Specimen> & Partial<Specimen>): StatusSpecimen => ({
  ...everywhere("certificates.k8s.io/v1", "certificatesigningrequests", "CertificateSigningRequest"),
  name: `diff-status-${name}`,
  label: `CertificateSigningRequest that is ${name}`,
  chosen: ["username", "uid", "groups", "extra"],
  good: { spec: { request: REQUEST, signerName: "example.com/signer", usages: ["client auth"] } },
  ...more,
});

/** What signers and approvers may write. */
const statuses: readonly StatusSpecimen[] = [
  request("signed", {
    status: { certificate: signed, conditions: [condition("Spoilt")] },
    changes: {
      "another certificate": {
        status: { certificate: text("-----BEGIN CERTIFICATE-----\nAAED\n-----END CERTIFICATE-----\n") },
      },
      "no certificate": { status: { certificate: null } },
      "a failure": conditions(condition("Spoilt"), condition("Failed")),
      "a failure that is none": conditions(condition("Spoilt"), condition("Failed", { status: "False" })),
      "an approval": conditions(condition("Spoilt"), condition("Approved")),
      "a refusal": conditions(condition("Spoilt"), condition("Denied")),
      "no times": conditions({ type: "Spoilt", status: "True" }),
      "an unknown state": conditions(condition("Spoilt", { status: "Maybe" })),
    },
  }),
  request("unsigned", {
    status: { conditions: [condition("Approved")] },
    subresource: "approval",
    changes: {
      "a refusal": conditions(condition("Denied")),
      both: conditions(condition("Approved"), condition("Denied")),
      "a failure": conditions(condition("Approved"), condition("Failed")),
      "an approval that is none": conditions(condition("Approved", { status: "False" })),
      "no times": conditions(condition("Approved"), { type: "Spoilt", status: "True" }),
      "a certificate": { status: { certificate: signed } },
    },
  }),
  request("certified", {
    status: { conditions: [condition("Spoilt")] },
    changes: Object.fromEntries(
      Object.entries({
        "no block": "x",
        "a block of another sort": "-----BEGIN THING-----\nAAEC\n-----END THING-----\n",
        "a block with headers": "-----BEGIN CERTIFICATE-----\na: b\n\nAAEC\n-----END CERTIFICATE-----\n",
        "an empty block": "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
        "a block and words": "words\n-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\nwords\n",
        "a block that does not parse": "-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n",
        "a certificate": CERTIFICATE,
        "a certificate twice": `${CERTIFICATE}${CERTIFICATE}`,
        "a certificate and words": `${CERTIFICATE}words`,
      }).map(([what, pem]) => [what, { status: { certificate: text(pem) } }]),
    ),
  }),
];

/** Requests for certificates, and events of both groups, with each field wrong once. */
export const spoiltServer: Script = {
  title: "fields of server kinds",
  namespace: "diff-spoilt-server",
  steps: [...specimens.flatMap(spoil), ...statuses.flatMap(spoilStatus)],
};
