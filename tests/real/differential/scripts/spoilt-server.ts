import type { Script } from "../script.ts";
import { everywhere, inNamespace, type Specimen, spoil } from "./mutations.ts";

const REQUEST =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIcU1JR1JBZ0VBTUM4eEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVXTUJRR0ExVUVBd3dOYzNsegpkR1Z0T201dlpHVTZZVEJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSEEwSUFCQlJJdXNrQWNYWmVHOVd1CnVEMDd2SmhoNTVsOXlZNHpmRCs5Yk9pSU94SjJDQ2NDVXhPOFZ0YU91TS9wMW1RZmJMZjNXc1cvS1Y5bjFqZUUKM0JzM3dCaWdBREFLQmdncWhrak9QUVFEQWdOSUFEQkZBaUFTUjYvckdQLzRmTUZPR05tYStwaTExWUJOdFZIYQpFQjNISCtYd3BsOTdRQUloQUl1Q0ZZaW1IaTVySk15dTJWOWY4S1dtRTUxV3dRTXNhekVHSGRUbWJJV0YKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";
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

/** Requests for certificates, and events of both groups, with each field wrong once. */
export const spoiltServer: Script = {
  title: "fields of server kinds",
  namespace: "diff-spoilt-server",
  steps: specimens.flatMap(spoil),
};
