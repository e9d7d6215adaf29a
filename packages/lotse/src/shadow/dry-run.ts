/**
 * What the API server would make of a write: every request from here has `dryRun=All`, and the verb of the write itself,
 * so that a shadow needs no right that the operator does not have.
 */
import {
  AlreadyExistsError,
  ApiError,
  type Client,
  ConflictError,
  InvalidError,
  type KubeBody,
  NotFoundError,
  type RawRequest,
} from "@lotse/client";
import { applyMergePatch, type JsonObject } from "@lotse/client/meta";
import { MEDIA_TYPES, type PatchKind } from "./local-change.ts";
import { pathTo, type RequestTarget } from "./request-target.ts";
import type { Worker } from "./worker.ts";

/** See the module comment. */
export class DryRun {
  readonly #client: Client;
  readonly #worker: Worker;

  constructor(client: Client, worker: Worker) {
    this.#client = client;
    this.#worker = worker;
  }

  /** The request as it is, as a dry run. */
  async send(request: RawRequest, change: Partial<Pick<RawRequest, "path" | "body">> = {}): Promise<KubeBody> {
    const { onAttempt: _, beforeSend: __, ...rest } = { ...request, ...change };
    const query = { ...request.query, dryRun: "All" };
    return (await this.#client.raw({ ...rest, body: dryBody(rest), query })).json<KubeBody>();
  }

  /** Creates an object; undefined when it cannot be tried, because its name is taken and it can have no other. */
  async create(request: RawRequest, body: KubeBody, taken: boolean): Promise<KubeBody | undefined> {
    const { name } = body.metadata ?? {};
    if (!taken) {
      try {
        return await this.send(request, { body });
      } catch (error) {
        if (!(error instanceof AlreadyExistsError) || name === undefined) throw error;
      }
    }
    return this.#createAs(request, body, name ?? "");
  }

  /** Under a name that is free; what a server makes of an object does not depend on its name. */
  async #createAs(request: RawRequest, body: KubeBody, name: string): Promise<KubeBody | undefined> {
    const { name: _, generateName, ...metadata } = body.metadata ?? {};
    const other = { ...body, metadata: { ...metadata, generateName: `${name.slice(0, LONGEST_BASE)}-` } };
    try {
      const { metadata: made, ...rest } = await this.send(request, { body: other });
      const { generateName: __, ...kept } = made ?? {};
      return { ...rest, metadata: { ...kept, name, ...(generateName !== undefined && { generateName }) } };
    } catch (error) {
      if (error instanceof InvalidError && error.details.causes?.every(({ field }) => field?.startsWith("metadata.")))
        return undefined;
      // The working version's object takes up the room that a quota leaves.
      if (error instanceof ApiError && error.status === 403 && /exceeded quota/.test(error.message)) return undefined;
      throw error;
    }
  }

  /** Applies an object; what the working version holds against it does not count. */
  async apply(request: RawRequest, target: RequestTarget, manifest: KubeBody): Promise<KubeBody> {
    const path = pathTo(target);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.send(request, { path, body: manifest });
      } catch (error) {
        if (isAtTheSameTime(error) && attempt < ATTEMPTS) continue;
        if (!(error instanceof ConflictError) || !this.#isWithWorkerAlone(error)) throw error;
        return this.send({ ...request, query: { ...request.query, force: true } }, { path, body: manifest });
      }
    }
  }

  #isWithWorkerAlone({ details }: ConflictError): boolean {
    const causes = details.causes ?? [];
    const names = this.#worker.names.map((name) => `conflict with "${name}"`);
    return causes.length > 0 && causes.every(({ message = "" }) => names.some((text) => message.startsWith(text)));
  }

  /** Patches an object; undefined when the cluster has it no longer. */
  async patch(
    request: RawRequest,
    target: RequestTarget,
    kind: PatchKind,
    body: JsonObject | unknown,
  ): Promise<KubeBody | undefined> {
    const { onAttempt: _, beforeSend: __, signal, timeout, retry, headers, query = {} } = request;
    const { fieldManager, fieldValidation } = query;
    try {
      const response = await this.#client.raw({
        signal,
        timeout,
        retry,
        method: "PATCH",
        path: pathTo(target),
        query: { fieldManager, fieldValidation, dryRun: "All" },
        headers: { ...headers, "content-type": MEDIA_TYPES[kind] },
        body,
      });
      return await response.json<KubeBody>();
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  /**
   * Replaces an object by `is` with a change made to it; undefined when the cluster has moved on: then the object that it
   * has cannot be known.
   */
  async replace(request: RawRequest, target: RequestTarget, is: KubeBody, change: JsonObject) {
    try {
      return await this.send(request, { path: pathTo(target), body: applyMergePatch<KubeBody>(is, change) });
    } catch (error) {
      if (error instanceof NotFoundError || error instanceof ConflictError) return undefined;
      throw error;
    }
  }

  /** Deletes an object; undefined when the cluster has it no longer. */
  async remove(request: RawRequest, target: RequestTarget): Promise<KubeBody | undefined> {
    const { preconditions: _, ...options } = (parsed(request.body) ?? {}) as JsonObject;
    const body = Object.keys(options).length > 0 ? options : undefined;
    try {
      return await this.send({ ...request, body }, { path: pathTo(target) });
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }
}

const ATTEMPTS = 5;

/** The version that works writes the same object at the same time: an apply that names no version does not mean that. */
function isAtTheSameTime(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409 && (error.details.causes ?? []).length === 0;
}

/** Of a deletion with a body the server reads no query: without a word in it, it would be done. */
function dryBody({ method, body }: Pick<RawRequest, "method" | "body">): unknown {
  return method === "DELETE" && body !== undefined ? { ...(parsed(body) as JsonObject), dryRun: ["All"] } : body;
}

function parsed(body: unknown): unknown {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString("utf8") : body;
  return typeof text === "string" ? JSON.parse(text) : text;
}

/** Servers cut generated names there. */
const LONGEST_BASE = 50;
