/**
 * Requests that are judged before they are stored. There is no server to choose and no certificate to make: `lotse dev`,
 * `lotse run` and a deployed operator each find out how the API server reaches them.
 */
import { AdmissionError, Operator } from "lotse";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-admission" });

operator.on.validate(KopfExample, function whoAsks({ headers, request, warn }) {
  warn(`the API server calls as ${headers["user-agent"] ?? "an unknown program"}`);
  warn(request.peer ? `it is ${request.peer.commonName || "nameless"}` : "it has shown no certificate");
});

operator.on.validate(KopfExample, function noWrongField({ spec, dryRun }) {
  if (!dryRun && spec.field === "wrong") throw new AdmissionError("this field is wrong: change it");
});

// Compiled into the configuration: the API server calls only for this value.
operator.on.validate(KopfExample, { field: "spec.field", value: "not-allowed" }, function neverAllowed() {
  throw new AdmissionError("nothing of the sort is allowed here", { code: 555 });
});

operator.on.validate(KopfExample, { subresource: "*" }, function sameInStatus({ spec, status, subresource, warn }) {
  if (status.field === spec.field) return;
  if (subresource === "status") throw new AdmissionError("status.field has to be the same as spec.field");
  if (subresource === undefined)
    warn(`status.field should follow: it is ${status.field}, and spec.field is ${spec.field}`);
});

operator.on.mutate(KopfExample, { labels: { somelabel: "somevalue" } }, function inject({ patch }) {
  patch.spec.injected = 123;
});

export default operator;
