import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { CertificateAuthority } from "@lotse/client/certificates";

/** What a webhook in a test gets to see of a call. */
export interface HookCall {
  readonly path: string;
  readonly headers: Record<string, string | string[] | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into reviews of every shape
  readonly body: any;
}

/** The answer of a webhook: an object as JSON, or a status with a text, or nothing ever. */
export type HookReply = object | { readonly status: number; readonly text: string } | "silence" | "hang up";

/** A webhook over real TLS, with a certificate of its own authority. */
export class TestHooks implements AsyncDisposable {
  readonly port: number;
  /** As it goes into `caBundle`. */
  readonly caBundle: string;
  /** Its own certificate, as it may go there, too. */
  readonly leafBundle: string;
  readonly calls: HookCall[] = [];
  readonly #server: Server;

  private constructor(server: Server, caPem: string, leafPem: string, calls: HookCall[]) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.caBundle = Buffer.from(caPem).toString("base64");
    this.leafBundle = Buffer.from(leafPem).toString("base64");
    this.calls = calls;
  }

  static async start(
    answer: (call: HookCall) => HookReply,
    hosts: readonly string[] = ["127.0.0.1"],
  ): Promise<TestHooks> {
    const authority = new CertificateAuthority("hooks-ca", Date.now());
    const { certPem, keyPem } = authority.issue({ commonName: "hooks", hosts, usage: "server" });
    const calls: HookCall[] = [];
    const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const call = {
          path: request.url ?? "",
          headers: request.headers,
          body: JSON.parse(Buffer.concat(chunks).toString()),
        };
        calls.push(call);
        const reply = answer(call);
        if (reply === "silence") return;
        if (reply === "hang up") {
          request.socket.destroy();
          return;
        }
        if ("status" in reply && "text" in reply) {
          response.writeHead(reply.status as number, { "content-type": "text/plain" });
          response.end(reply.text);
          return;
        }
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(reply));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new TestHooks(server, authority.certPem, certPem, calls);
  }

  /** How a configuration points here. */
  at(path = "/"): { url: string; caBundle: string } {
    return { url: `https://127.0.0.1:${this.port}${path}`, caBundle: this.caBundle };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** An AdmissionReview that answers one; `more` goes into the response. */
export function verdict(call: HookCall, allowed: boolean, more: object = {}): object {
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid: call.body.request.uid, allowed, ...more },
  };
}

/** The part of a response that changes the object. */
export function patchOf(operations: readonly object[]): object {
  return { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(operations)).toString("base64") };
}

const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";
/** The path of configurations of mutating webhooks. */
export const MUTATING: string = `${REGISTRATION}/mutatingwebhookconfigurations`;
/** The path of configurations of validating webhooks. */
export const VALIDATING: string = `${REGISTRATION}/validatingwebhookconfigurations`;

/** A webhook about ConfigMaps in every namespace that has the label `hooked`. */
export function webhook(name: string, clientConfig: object, more: object = {}): object {
  return {
    name,
    clientConfig,
    rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    ...more,
  };
}

/** A configuration with these webhooks. */
export function configuration(kind: "Mutating" | "Validating", name: string, webhooks: readonly object[]): object {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks,
  };
}
