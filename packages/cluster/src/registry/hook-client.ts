/** Where a webhook is: at an address, or behind a Service of the cluster. */
export interface HookTarget {
  readonly url?: string | undefined;
  readonly service?:
    | { readonly namespace: string; readonly name: string; readonly path?: string; readonly port?: number }
    | undefined;
  /** Certificates that its own must be signed by, as base64 of PEM; those of the machine when there is none. */
  readonly caBundle?: string | undefined;
}

/** The webhook could not be asked, or gave no answer that makes sense. The message is the real server's. */
export class HookError extends Error {
  override readonly name: string = "HookError";
}

/** The configuration is such that no webhook could be asked. */
export class HookSetupError extends HookError {
  override readonly name = "HookSetupError";
}

/** Sends reviews to webhooks. */
export interface HookClient {
  /** Posts JSON and gives the parsed answer; rejects with a {@link HookError}. */
  post(target: HookTarget, body: unknown, timeoutSeconds: number): Promise<unknown>;
}

/** Refuses the answer to a review that is of another kind; one that does not say what it is may pass. */
export function checkReviewKind(
  review: Readonly<Record<string, unknown>>,
  expected: { readonly group: string; readonly version: string; readonly kind: string },
): void {
  const { apiVersion, kind } = review;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || apiVersion === "" || kind === "") return;
  const { group, version } = expected;
  if (apiVersion === `${group}/${version}` && kind === expected.kind) return;
  const other = version === "v1" ? "v1beta1" : "v1";
  if (apiVersion === `${group}/${other}` && kind === expected.kind) {
    throw new HookError(`converting (${other}.${kind}) to (${version}.${kind}): unknown conversion`);
  }
  const place = 'in scheme "pkg/runtime/scheme.go:111"';
  throw new HookError(
    `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} ${place}`,
  );
}
