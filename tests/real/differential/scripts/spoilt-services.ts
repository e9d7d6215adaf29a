import type { Script } from "../script.ts";
import { everywhere, type Fields, type Specimen, spoil } from "./mutations.ts";

const served = (more: Fields = {}): Fields => ({
  spec: {
    group: "spoilt.example.com",
    version: "v1",
    service: { name: "s", namespace: "default", port: 443 },
    groupPriorityMinimum: 100,
    versionPriority: 10,
    insecureSkipTLSVerify: true,
    ...more,
  },
});

const specimens: readonly Specimen[] = [
  {
    ...everywhere("apiregistration.k8s.io/v1", "apiservices", "APIService"),
    name: "v1.spoilt.example.com",
    good: served(),
    // Each server tries to reach it in its own time.
    chosen: ["status"],
    also: {
      "a group with a bad name": served({ group: "A_b" }),
      "a version with a bad name": served({ version: "1x" }),
      "an authority": served({ insecureSkipTLSVerify: false, caBundle: "Zm9v" }),
      "an authority that is not asked": served({ caBundle: "Zm9v" }),
      "no authority": served({ insecureSkipTLSVerify: false }),
      "too high a priority": served({ groupPriorityMinimum: 20_001, versionPriority: 1_001 }),
      "no service": {
        spec: { group: "spoilt.example.com", version: "v1", groupPriorityMinimum: 1, versionPriority: 1 },
      },
      "no service but its authority": {
        spec: {
          group: "spoilt.example.com",
          version: "v1",
          groupPriorityMinimum: 1,
          versionPriority: 1,
          caBundle: "Zm9v",
          insecureSkipTLSVerify: true,
        },
      },
      "a service on a high port": served({ service: { name: "s", namespace: "default", port: 70_000 } }),
    },
    changes: {
      "another service": { spec: { service: { name: "other" } } },
      "another version": { spec: { version: "v2" } },
      "a status": { status: { conditions: [{ type: "Available", status: "True" }] } },
    },
  },
  {
    ...everywhere("apiregistration.k8s.io/v1", "apiservices", "APIService"),
    label: "APIService of another name",
    name: "v2.spoilt.example.com",
    good: served(),
    onlyNew: true,
  },
];

/** Servers behind this one, with each field wrong once and changed once. */
export const spoiltServices: Script = {
  title: "fields of APIServices",
  steps: specimens.flatMap(spoil),
};
