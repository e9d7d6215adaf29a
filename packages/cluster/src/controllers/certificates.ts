import {
  type AccessCheck,
  type ApiObject,
  fromStore,
  listAt,
  objectAt,
  remove,
  StatusError,
  type Target,
  timestamp,
  update,
} from "../registry/index.ts";
import {
  deadlineOf,
  KUBELET_CLIENT,
  SIGNERS,
  type SigningRequestFields,
  type SigningTerms,
  termsOf,
} from "./certificate-rules.ts";
import { type Controller, type ControllerContext, WorkQueue } from "./controller.ts";

const GROUP = "certificates.k8s.io";
const PLURAL = "certificatesigningrequests";
const TABLE = `${PLURAL}.${GROUP}`;
const WRITE = { dryRun: false, fieldManager: "kube-controller-manager", fieldValidation: "Ignore" } as const;

/** Reads requests and signs them: what a controller cannot do by itself. */
export interface RequestSigner<Request extends SigningRequestFields = SigningRequestFields> {
  /** Real time, by which certificates are good. */
  now(): number;
  /** Throws with what is wrong about the request. */
  read(pem: string): Request;
  /** The certificate, PEM. */
  sign(request: Request, terms: SigningTerms): string;
  /** When a certificate is over. */
  expiryOf(pem: string): number;
}

/** What may be asked about those who send requests: whether they may have such a certificate without an approver. */
const AUTOMATIC = [
  {
    subresource: "selfnodeclient",
    message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
  },
  { subresource: "nodeclient", message: "Auto approving kubelet client certificate after SubjectAccessReview." },
] as const;

/** Signs what was approved with the cluster's authority, approves what kubelets ask for, and clears away what is old. */
export class CertificateController<Request extends SigningRequestFields> implements Controller {
  readonly #context: ControllerContext;
  readonly #signer: RequestSigner<Request>;
  readonly #access: AccessCheck;
  readonly #queue: WorkQueue;

  constructor(context: ControllerContext, signer: RequestSigner<Request>, access: AccessCheck) {
    this.#context = context;
    this.#signer = signer;
    this.#access = access;
    this.#queue = new WorkQueue(context.backend, "the signer of certificates", (key) => this.#work(key));
  }

  get idle(): boolean {
    return this.#queue.idle;
  }

  start(): void {
    this.#queue.follow(TABLE);
  }

  stop(): void {
    this.#queue.stop();
  }

  async #work(name: string): Promise<void> {
    const { backend } = this.#context;
    const entry = backend.store.get(TABLE, name);
    if (!entry) return;
    const request = fromStore(entry.object);
    try {
      if (await this.#clear(name, request)) return;
      await this.#decide(name, request);
    } catch (error) {
      // Another client was faster to take it away.
      if (!(error instanceof StatusError && error.code === 404)) throw error;
    }
  }

  /** Whether the request was old enough to go. */
  async #clear(name: string, request: ApiObject): Promise<boolean> {
    const { backend, requester } = this.#context;
    const { certificate } = objectAt(request, "status");
    const conditions = listAt(request, "status", "conditions");
    const deadline = deadlineOf(request.metadata.creationTimestamp, conditions, certificate !== undefined);
    const over = certificate !== undefined && this.#signer.expiryOf(atob(String(certificate))) < this.#signer.now();
    const left = over ? 0 : deadline === undefined ? undefined : deadline - backend.clock.now();
    if (left === undefined) return false;
    if (left > 0) {
      this.#queue.addAfter(name, left);
      return false;
    }
    const target = this.#target(name, undefined);
    if (target) await remove(backend, requester, target, { dryRun: false });
    return true;
  }

  async #decide(name: string, request: ApiObject): Promise<void> {
    const spec = objectAt(request, "spec");
    const complain = SIGNERS.get(String(spec.signerName));
    if (!complain || objectAt(request, "status").certificate !== undefined) return;
    const has = (type: string) =>
      listAt(request, "status", "conditions").some(
        (condition) => condition.type === type && condition.status === "True",
      );
    if (has("Denied") || has("Failed")) return;
    const signing = this.#read(String(spec.request));
    if (!signing) return;
    const usages = Array.isArray(spec.usages) ? spec.usages.map(String) : [];
    const complaint = complain(signing, usages);
    if (!has("Approved")) {
      const message = complaint === undefined ? this.#automatic(spec, signing) : undefined;
      if (message !== undefined)
        await this.#add(name, "approval", { type: "Approved", reason: "AutoApproved", message });
      return;
    }
    if (complaint !== undefined) {
      await this.#add(name, "status", { type: "Failed", reason: "SignerValidationFailure", message: complaint });
      return;
    }
    const terms = termsOf(usages, spec.expirationSeconds, this.#signer.now());
    const certificate = btoa(this.#signer.sign(signing, terms));
    await this.#write(name, "status", (status) => ({ ...status, certificate }));
  }

  /** What cannot be read stays as it is, as at a real server: no signer can read it. */
  #read(base64: string): Request | undefined {
    try {
      return this.#signer.read(atob(base64));
    } catch {
      return undefined;
    }
  }

  /** The sentence with which a request is approved by itself; undefined where an approver has to. */
  #automatic(spec: Readonly<Record<string, unknown>>, request: SigningRequestFields): string | undefined {
    if (spec.signerName !== KUBELET_CLIENT) return undefined;
    const user = {
      username: String(spec.username),
      groups: Array.isArray(spec.groups) ? spec.groups.map(String) : [],
    };
    const [own, any] = AUTOMATIC;
    const ways = user.username === request.commonName ? [own, any] : [any];
    const place = { verb: "create", group: GROUP, resource: PLURAL, namespace: "", name: "" };
    return ways.find(({ subresource }) => this.#access(user, { type: "resource", ...place, subresource }).allowed)
      ?.message;
  }

  #target(name: string, subresource: string | undefined): Target | undefined {
    const endpoint = this.#context.backend.catalog.storage(GROUP, PLURAL);
    return endpoint && { endpoint, namespace: undefined, name, subresource };
  }

  async #add(
    name: string,
    subresource: string,
    condition: { type: string; reason: string; message: string },
  ): Promise<void> {
    const now = timestamp(this.#context.backend.clock.now());
    const fresh = { ...condition, status: "True", lastUpdateTime: now, lastTransitionTime: now };
    await this.#write(name, subresource, (status) => ({
      ...status,
      conditions: [...listAt(status, "conditions"), fresh],
    }));
  }

  async #write(
    name: string,
    subresource: string,
    change: (status: Readonly<Record<string, unknown>>) => Record<string, unknown>,
  ): Promise<void> {
    const { backend, requester } = this.#context;
    const target = this.#target(name, subresource);
    if (!target) return;
    const next = (current: ApiObject): ApiObject => ({
      ...structuredClone(current),
      status: change(structuredClone(objectAt(current, "status"))),
    });
    await update(backend, requester, target, WRITE, { by: "patch", tracked: false, next });
  }
}
