/**
 * Where the API server asks the operator: the server with its certificate, what answers at which path, and what the API
 * server is told of it. Loaded only by operators that judge, rule or convert.
 */
import { CustomResourceDefinition, type KubeBody } from "@lotse/client";
import { errorMessage } from "@lotse/client/meta";
import {
  answerConversion,
  answerReview,
  type CertificateSource,
  type ConvertedKind,
  conversionPath,
  handlerOfPath,
  type JudgedKind,
  LIST_BYTES,
  measureCertificates,
  pathOfHandler,
  Registration,
  type RegistrationParts,
  type RegistrationPlan,
  type ReviewParts,
  registeredNames,
  statusBody,
  type WebhookAddress,
  type WebhookAnswer,
  type WebhookRequest,
  withConversion,
} from "../admission/index.ts";
import {
  Aborted,
  isResourceClass,
  type NamespaceFilter,
  parseNamespaces,
  type ResourceClass,
} from "../declare/index.ts";
import { findFormer, forgetNote, type Noted, unwanted, writeNote } from "../install/index.ts";
import type { Verdict, WebhookHealth } from "../report/index.ts";
import { errorFields } from "../turn/index.ts";
import { convertedKinds } from "./conversions.ts";
import { formerParts, noteClient, removeUnwantedOfFormer } from "./former.ts";
import { JudgedKinds } from "./judged-kinds.ts";
import { UntoldAuthority } from "./untold-authority.ts";
import { openAccess, type WebhookAccess } from "./webhook-access.ts";
import { type Seat, WebhookHost, type WebhookMember } from "./webhook-host.ts";
import { WebhookMeasures } from "./webhook-measures.ts";
import { reviewParts, type WebhooksParts } from "./webhook-parts.ts";
import { planRegistration, remainingAfter } from "./webhook-plan.ts";

/** How long requests that are being answered may take when the operator has stopped. */
const DRAIN_MS = 2_000;
/** How long the API server may take to forget an operator that stops. */
const WITHDRAW_MS = 3_000;

/** See the module comment. */
export class Webhooks {
  readonly #parts: WebhooksParts;
  readonly #converted: readonly ConvertedKind[];
  readonly #judged: JudgedKinds;
  readonly #filter: NamespaceFilter | undefined;
  readonly #measures: WebhookMeasures;
  readonly #review: ReviewParts;
  #access: WebhookAccess | undefined;
  #seat: Seat | undefined;
  #registration: Registration | undefined;
  #mutatingVersion: string | undefined;
  #conversion: Registration | undefined;
  #noted: Noted | undefined;
  #former: Promise<void> = Promise.resolve();

  private constructor(parts: WebhooksParts) {
    this.#parts = parts;
    this.#converted = convertedKinds(parts.declarations);
    this.#filter = parts.namespaces && parseNamespaces(parts.namespaces);
    this.#judged = new JudgedKinds(parts.runtime, parts.reporting, parts.declarations, () =>
      this.#registration?.renew(),
    );
    this.#measures = new WebhookMeasures(parts.reporting.metrics, () => this.health());
    this.#review = reviewParts(parts, () => this.#judged.current, this.#filter, this.#measures);
  }

  /** Listens, where anything has to be answered. Rejects when the API server could not reach it. */
  static async start(parts: WebhooksParts): Promise<Webhooks> {
    const webhooks = new Webhooks(parts);
    await webhooks.#judged.begin();
    try {
      if (webhooks.#isAsked) await webhooks.#listen();
    } catch (error) {
      await webhooks.close();
      throw error;
    }
    return webhooks;
  }

  /** The definition of a kind, with where its objects are converted. */
  definitionOf(resource: ResourceClass<unknown, unknown>): ReturnType<typeof resource.crd> {
    const crd = resource.crd();
    const access = this.#access;
    const name = crd.metadata?.name;
    if (!access || !this.#converted.some(({ plural, group }) => name === `${plural}.${group}`)) return crd;
    return withConversion(crd, access.address, access.certificates.current().caBundle);
  }

  /** Tells the API server where objects are converted that the operator is about to list. */
  async registerConversions(): Promise<void> {
    if (!this.#registersConversions || this.#converted.length === 0) return;
    this.#conversion = this.#makeRegistration(() => this.#conversionPlan());
    await this.#conversion.begin();
  }

  /** Tells the API server of everything else; resolves when it has been told. Rejects when it refuses something. */
  async register(): Promise<void> {
    if (!this.#registers) return;
    const { admission, policies } = this.#parts.declarations;
    if (admission.length + policies.length === 0) return;
    await this.#judged.tellMissing();
    this.#mutatingVersion = await this.#judged.mutatingVersion();
    const { runtime, reporting } = this.#parts;
    const { operator, clock } = runtime;
    const parts = formerParts(runtime, reporting);
    const former = await findFormer(parts);
    const wanted = () => registeredNames(this.#plan(this.#judged.current).wanted);
    this.#registration = this.#makeRegistration(() => this.#plan(this.#judged.current), {
      note: async (names) => {
        const left = former ? unwanted(former, names) : [];
        this.#noted = await writeNote(parts.client, operator, [...names, ...left], clock.now());
      },
    });
    await this.#registration.begin();
    if (!former || unwanted(former, wanted()).length === 0) return;
    await new Promise<void>((resolve) => {
      this.#former = removeUnwantedOfFormer(former, wanted, parts, resolve);
    });
  }

  health(): WebhookHealth | undefined {
    const problems = [this.#registration?.problem, this.#conversion?.problem].flatMap((one) => one ?? []);
    const registration = problems.length > 0 ? { registration: problems.join("; ") } : {};
    if (!this.#isAsked) return problems.length > 0 ? { serving: undefined, inFlight: 0, ...registration } : undefined;
    const certificate = this.#access?.certificates.health();
    return {
      serving: this.#seat?.health().serving === true,
      inFlight: this.#seat?.health().inFlight ?? 0,
      ...registration,
      ...(certificate && {
        certificate: {
          notBefore: certificate.notBefore?.toISOString(),
          notAfter: certificate.notAfter?.toISOString(),
          problem: certificate.problem,
        },
      }),
    };
  }

  /** The operator stops: what only this process would answer is not asked any more. Never rejects. */
  async withdraw(): Promise<void> {
    const address = this.#access?.address;
    if (!this.#registration || !address) return;
    const { runtime, reporting } = this.#parts;
    const over = new AbortController();
    const cancel = runtime.clock.after(WITHDRAW_MS, () => over.abort(new Aborted("shutdown", "the time is over")));
    try {
      await this.#registration.end();
      const left = this.#plan(remainingAfter(this.#judged.current, address)).wanted;
      await this.#registration.withdraw(left, over.signal);
      if (left.length === 0) await this.#forget(over.signal);
    } catch (error) {
      reporting.logger.error("webhooks could not be withdrawn, requests are refused until the operator is back", {
        error: errorMessage(error),
        hint: "start the operator again, or remove its webhooks with lotse uninstall",
      });
    } finally {
      cancel();
    }
  }

  /** A note that stays costs the next version some looks, no more. */
  async #forget(signal: AbortSignal): Promise<void> {
    const { runtime, reporting } = this.#parts;
    if (!this.#noted) return;
    try {
      await forgetNote(noteClient(runtime.client).with({ signal }), runtime.operator, this.#noted);
    } catch (error) {
      reporting.logger.debug("the note of what is registered could not be removed", { error: errorMessage(error) });
    }
  }

  /** All watches have ended: nothing has to be answered any more. What is being answered may take `graceMs`. */
  async close(graceMs = DRAIN_MS): Promise<void> {
    await this.#seat?.leave(Math.min(graceMs, DRAIN_MS));
    await this.#access?.certificates.stop();
    await Promise.all([this.#registration?.end(), this.#conversion?.end(), this.#judged.end(), this.#former]);
  }

  /** The server is gone at once; nothing else is told, as a process has no time for that which is killed. */
  async kill(): Promise<void> {
    await this.#seat?.kill();
  }

  /** Whether anything is asked of this process. */
  get #isAsked(): boolean {
    return this.#parts.declarations.admission.length > 0 || this.#converted.length > 0;
  }

  get #registers(): boolean {
    return this.#parts.options.register !== false;
  }

  /** Conversions are in definitions: whoever installs these tells the API server of them. */
  get #registersConversions(): boolean {
    return this.#registers || this.#parts.installs;
  }

  /** Whether others tell the API server whom to believe. */
  get #othersRegister(): boolean {
    const { admission } = this.#parts.declarations;
    return !this.#registers && (admission.length > 0 || !this.#registersConversions);
  }

  async #listen(): Promise<void> {
    const { runtime, reporting, options, sharing } = this.#parts;
    const access = await openAccess(options, runtime, reporting.logger, sharing);
    this.#access = access;
    const { certificates } = access;
    measureCertificates(reporting.metrics, certificates, runtime.clock);
    const untold = this.#othersRegister
      ? new UntoldAuthority(access.authorityIn, options, reporting.logger)
      : undefined;
    await certificates.ready;
    untold?.tell(certificates.current().caBundle);
    const host = this.#hostAt(access.port);
    const seat = await host.join(this.#member(certificates), certificates, access.names);
    this.#seat = seat;
    if (this.#parts.isKilled()) await this.kill();
    access.listens(seat.port);
    certificates.onChange(({ caBundle }) => {
      untold?.tell(caBundle);
      this.#registration?.renew();
      this.#conversion?.renew();
    });
    reporting.logger.info("the webhook server listens", { port: seat.port, address: addressText(access.address) });
  }

  /** Operators that run together share the server of a port. */
  #hostAt(port: number): WebhookHost {
    const { runtime, options, sharing } = this.#parts;
    const { host } = options;
    const make = () => new WebhookHost({ host, port, clock: runtime.clock });
    if (!sharing) return make();
    const { hosts } = sharing.together;
    const key = `${host ?? "*"}:${port}`;
    const known = hosts.get(key) ?? make();
    hosts.set(key, known);
    return known;
  }

  #member(certificates: CertificateSource): WebhookMember {
    const { runtime, reporting, declarations } = this.#parts;
    const handlers = new Set(declarations.admission.flatMap((one) => one.handlers.map(pathOfHandler)));
    return {
      operator: runtime.operator,
      route: (path) => this.#route(path),
      knows: (path) => handlers.has(path) || this.#convertedAt(path) !== undefined,
      handle: (request, path) => this.#handle(request, path),
      readiness: () => this.#readiness(certificates),
      onProblem: (message, fields) => reporting.logger.warn(message, { ...fields }),
      answered: (status, ms, path) => this.#measures.answered(status, ms, path),
    };
  }

  #readiness(certificates: CertificateSource): Verdict {
    const { problem, notAfter } = certificates.health();
    if (this.#parts.runtime.stopping.aborted) return { ok: false, reasons: ["the operator stops"] };
    if (notAfter && notAfter.getTime() <= this.#parts.runtime.clock.now()) {
      return { ok: false, reasons: [problem ?? "the certificate is over"] };
    }
    return { ok: true, reasons: [] };
  }

  /** What there is at a path; undefined when nothing is. */
  #route(path: string): { readonly bodyBytes?: number } | undefined {
    if (handlerOfPath(path)) return {};
    return this.#convertedAt(path) ? { bodyBytes: LIST_BYTES } : undefined;
  }

  #convertedAt(path: string): ConvertedKind | undefined {
    return this.#converted.find(
      ({ plural, group }) => path === conversionPath({ metadata: { name: `${plural}.${group}` } } as never),
    );
  }

  async #handle(request: WebhookRequest, path: string): Promise<WebhookAnswer> {
    const { logger } = this.#parts.reporting;
    const handler = handlerOfPath(path);
    if (handler) {
      const { indexed } = this.#parts;
      // A handler that looks into an index must not look into half of one.
      if (indexed) await Promise.race([indexed, aborted(request.signal)]);
      return answerReview(this.#review, handler, request);
    }
    const kind = this.#convertedAt(path);
    if (!kind) return { status: 404, body: statusBody(404, `there is nothing at ${JSON.stringify(path)}`) };
    return answerConversion([kind], request.body, ({ message, error }) =>
      // Its functions are given nothing but objects, so that only a failure needs a name.
      logger.error("objects could not be converted", {
        runId: this.#parts.runtime.nextRunId(),
        why: message,
        ...errorFields(error, true),
      }),
    );
  }

  #makeRegistration(plan: () => RegistrationPlan, more: Pick<RegistrationParts, "note"> = {}): Registration {
    const { runtime, reporting } = this.#parts;
    const { operator, clock, random, stopping: signal } = runtime;
    return new Registration({
      operator,
      client: runtime.client,
      clock,
      random,
      logger: reporting.logger,
      signal,
      plan,
      ...more,
    });
  }

  #plan(kinds: readonly JudgedKind[]): RegistrationPlan {
    const { runtime, declarations } = this.#parts;
    const access = this.#access;
    return planRegistration({
      operator: runtime.operator,
      declarations,
      kinds,
      discovered: this.#judged.discovered,
      served: this.#filter?.exact,
      address: access?.address,
      caBundle: access?.certificates.current().caBundle,
      mutatingVersion: this.#mutatingVersion,
    });
  }

  #conversionPlan(): RegistrationPlan {
    const access = this.#access;
    if (!access) return { wanted: [], queries: [] };
    const kind = CustomResourceDefinition.description;
    const classes = this.#parts.declarations.kinds.filter(isResourceClass);
    const wanted = this.#converted.flatMap(({ plural, group }) => {
      const name = `${plural}.${group}`;
      const resource = classes.find((one) => one.crd().metadata?.name === name);
      const conversion = resource && this.definitionOf(resource).spec?.conversion;
      const body = { apiVersion: "apiextensions.k8s.io/v1", kind: kind.kind, metadata: { name }, spec: { conversion } };
      return conversion ? [{ kind, title: `the conversion of ${name}`, partial: true, body: body as KubeBody }] : [];
    });
    return { wanted, queries: wanted.map(({ body }) => ({ kind, name: body.metadata?.name ?? "" })) };
  }
}

function addressText(address: WebhookAddress): string {
  if ("url" in address) return address.url;
  const { namespace, name, port, path = "" } = address.service;
  return `Service ${namespace}/${name}:${port}${path}`;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
