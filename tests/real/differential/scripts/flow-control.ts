import type { Json, Script } from "../script.ts";
import { get, patch, remove, table } from "./requests.ts";

const root = "/apis/flowcontrol.apiserver.k8s.io/v1";

/** Fairness: what is there from the beginning, and what may become of it. */
export const flowControl: Script = {
  title: "flow control",
  steps: [
    ...["flowschemas", "prioritylevelconfigurations"].flatMap((plural) => [
      get(`lists ${plural}`, `${root}/${plural}`, {}, { view: withoutManagers }),
      table(`lists ${plural} as a table`, `${root}/${plural}`, { includeObject: "None" }),
      get(`reads one of ${plural}`, `${root}/${plural}/exempt`, {}, { view: withoutManagers }),
      get(`reads the status of one of ${plural}`, `${root}/${plural}/exempt/status`, {}, { view: withoutManagers }),
    ]),
    remove("deletes a schema dry", `${root}/flowschemas/service-accounts`, undefined, { query: { dryRun: "All" } }),
    patch(
      "merge",
      "labels a schema dry",
      `${root}/flowschemas/catch-all`,
      { metadata: { labels: { a: "b" } } },
      { query: { dryRun: "All" }, view: withoutManagers },
    ),
    patch(
      "merge",
      "changes a mandatory level",
      `${root}/prioritylevelconfigurations/catch-all`,
      { spec: { limited: { nominalConcurrencyShares: 1 } } },
      { query: { dryRun: "All" }, view: withoutManagers },
    ),
  ],
};

/** Who wrote these first, and in which order, is each server's own affair. */
function withoutManagers(body: Json): Json {
  const own = ["managedFields", "resourceVersion"];
  return JSON.parse(JSON.stringify(body, (key, value: unknown) => (own.includes(key) ? `<${key}>` : value))) as Json;
}
