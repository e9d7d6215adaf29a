// The webhooks that the suite deploys, played by this process: the server is told where their Services lead.
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { Cluster, SimulatedRun } from "@lotse/cluster";

interface AnyObject {
  readonly apiVersion?: string;
  readonly metadata?: { readonly name?: string; readonly labels?: Record<string, string> };
  readonly data?: Record<string, string>;
  readonly spec?: { readonly containers?: { name: string }[]; readonly initContainers?: { name: string }[] };
  readonly [key: string]: unknown;
}

/** What an admission webhook is asked. */
export interface AdmissionQuestion {
  readonly uid: string;
  readonly operation: string;
  readonly name?: string;
  readonly object?: AnyObject | null;
  readonly oldObject?: AnyObject | null;
}

type Verdict = { readonly allowed: boolean; readonly status?: object; readonly patch?: readonly object[] };

const ALLOWED: Verdict = { allowed: true };
const denied = (message: string): Verdict => ({ allowed: false, status: { message } });
const deniedFor = (reason: string): Verdict => ({ allowed: false, status: { reason } });
const MARK = "webhook-e2e-test";

/** Decides by the path that was asked; never answers some pods. */
export async function admit(path: string, question: AdmissionQuestion): Promise<Verdict> {
  const { operation, object } = question;
  const { metadata = {}, data = {}, spec = {} } = (operation === "DELETE" ? question.oldObject : object) ?? {};
  switch (path) {
    case "/always-deny":
      return denied("this webhook denies all requests");
    case "/always-allow-delay-5s":
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      return ALLOWED;
    case "/add-label":
      return addLabel(metadata.labels ?? {});
    case "/pods":
      return judgePod(metadata.labels?.[MARK], spec.containers ?? []);
    case "/pods/attach": {
      const wrong =
        question.name === "to-be-attached-pod" && object?.stdin === true && object.container === "container1";
      return wrong ? denied("attaching to pod 'to-be-attached-pod' is not allowed") : ALLOWED;
    }
    case "/mutating-pods": {
      const [image, name] = ["webhook-added-image", "webhook-added-init-container"];
      const wanted =
        metadata.name === "webhook-to-be-mutated" && !spec.initContainers?.some((one) => one.name === name);
      const value = [{ image, name, resources: {} }];
      return wanted ? { allowed: true, patch: [{ op: "add", path: "/spec/initContainers", value }] } : ALLOWED;
    }
    case "/configmaps":
      return judgeData(data, operation, "the configmap contains unwanted key and value", "the configmap");
    case "/custom-resource":
      return judgeData(data, operation, "the custom resource contains unwanted data", "the custom resource");
    case "/mutating-configmaps":
    case "/mutating-custom-resource":
      return mutateData(data);
    case "/crd":
      return metadata.labels?.[MARK] === "webhook-disallow" ? denied("the crd contains unwanted label") : ALLOWED;
    default:
      return denied(`nobody serves ${path}`);
  }
}

function addLabel(labels: Readonly<Record<string, string>>): Verdict {
  if (labels["added-label"] === "yes") return ALLOWED;
  const first = { op: "add", path: "/metadata/labels", value: { "added-label": "yes" } };
  const more = { op: "add", path: "/metadata/labels/added-label", value: "yes" };
  return { allowed: true, patch: [Object.keys(labels).length === 0 ? first : more] };
}

async function judgePod(mark: string | undefined, containers: readonly { name: string }[]): Promise<Verdict> {
  if (mark === "wait-forever") await new Promise(() => {});
  const complaints = [
    ...(mark === "webhook-disallow" ? ["the pod contains unwanted label;"] : []),
    ...(containers.some(({ name }) => name.includes("webhook-disallow"))
      ? ["the pod contains unwanted container name;"]
      : []),
  ];
  return complaints.length > 0 ? denied(complaints.join(" ")) : ALLOWED;
}

function judgeData(data: Readonly<Record<string, string>>, operation: string, why: string, what: string): Verdict {
  if (data[MARK] === "webhook-disallow" && operation !== "DELETE") return deniedFor(why);
  if (data[MARK] !== "webhook-nondeletable" || operation !== "DELETE") return ALLOWED;
  return deniedFor(`${what} cannot be deleted because it contains unwanted key and value`);
}

function mutateData(data: Readonly<Record<string, string>>): Verdict {
  const stage = data["mutation-stage-1"] === "yes" ? 2 : data["mutation-start"] === "yes" ? 1 : undefined;
  if (stage === undefined) return ALLOWED;
  return { allowed: true, patch: [{ op: "add", path: `/data/mutation-stage-${stage}`, value: "yes" }] };
}

/** `hostPort` of v1 is `host` and `port` of v2. */
export function convert(object: AnyObject, desiredAPIVersion: string): AnyObject {
  const { hostPort, host, port, ...rest } = object;
  const next = { ...rest, apiVersion: desiredAPIVersion };
  if (desiredAPIVersion.endsWith("/v2")) {
    if (hostPort === undefined) return next;
    const [name, number] = String(hostPort).split(":");
    return { ...next, host: name, port: number };
  }
  if (host === undefined && port === undefined) return next;
  return { ...next, hostPort: `${host ?? ""}:${port ?? ""}` };
}

async function answer(path: string, review: Record<string, unknown>): Promise<unknown> {
  const request = review.request as AdmissionQuestion & { objects?: AnyObject[]; desiredAPIVersion?: string };
  const { apiVersion, kind } = review;
  if (path === "/crdconvert") {
    const convertedObjects = (request.objects ?? []).map((one) => convert(one, request.desiredAPIVersion ?? ""));
    return { apiVersion, kind, response: { uid: request.uid, convertedObjects, result: { status: "Success" } } };
  }
  const { patch, ...verdict } = await admit(path, request);
  const encoded = patch && { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
  return { apiVersion, kind, response: { uid: request.uid, ...verdict, ...encoded } };
}

/** Serves what a pod's webhook would serve, with the certificate that is mounted there, until the pod ends. */
export async function serveWebhook(cluster: Cluster, run: SimulatedRun): Promise<number> {
  const flag = (name: string) => run.command.find((word) => word.startsWith(`--${name}=`))?.split("=")[1] ?? "";
  const file = (name: string) => Buffer.from(run.files().get(flag(name))?.bytes ?? []);
  const server = createServer(
    { cert: file("tls-cert-file"), key: file("tls-private-key-file") },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", async () => {
        const path = (request.url ?? "").split("?")[0] as string;
        const body =
          path === "/readyz" ? "ok" : JSON.stringify(await answer(path, JSON.parse(String(Buffer.concat(chunks)))));
        response.setHeader("content-type", "application/json").end(body);
      });
    },
  );
  const port = await listen(server);
  const service = run.command[0] === "webhook" ? "e2e-test-webhook" : "e2e-test-crd-conversion-webhook";
  const undo = cluster.services.route(`${run.pod.namespace}/${service}`, port);
  try {
    while (!run.signal.aborted) await run.sleep("1h");
  } finally {
    undo();
    server.closeAllConnections();
    server.close();
  }
  return 0;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}
