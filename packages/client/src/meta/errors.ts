/** What every error of Lotse can carry beside its message. */
export interface KubeErrorOptions {
  /** What to do about it, in one sentence. */
  hint?: string;
  cause?: unknown;
}

/** On the prototype, so that all subclasses inherit it and a copy of this package in another place recognises it. */
const BRAND = Symbol.for("lotse.KubeError");

/**
 * The root of all errors of the client. `instanceof` also holds across two copies of the package: there it goes by the
 * names of the classes.
 *
 * @example
 * ```ts
 * try { await client.get(Pod, "web"); }
 * catch (error) { if (error instanceof KubeError) console.error(error.code, error.hint); }
 * ```
 */
export class KubeError extends Error {
  /** Stable, for programs: `LOTSE_NOT_FOUND`, `LOTSE_CONFIG`, … */
  readonly code: string = "LOTSE_ERROR";
  readonly hint: string | undefined;

  constructor(message: string, options: KubeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.hint = options.hint;
  }

  get [BRAND](): true {
    return true;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== "object" || value === null) return false;
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this and must be asked about themselves
    const asked = this as { readonly name: string; readonly prototype: object };
    if (Object.prototype.isPrototypeOf.call(asked.prototype, value)) return true;
    if ((value as { [BRAND]?: true })[BRAND] !== true) return false;
    for (let type = Object.getPrototypeOf(value); type !== null; type = Object.getPrototypeOf(type)) {
      if (type.constructor?.name === asked.name && type[BRAND] === true) return true;
    }
    return false;
  }
}

/** Something in the configuration or in a call's arguments is wrong; nothing was sent. */
export class ConfigError extends KubeError {
  override readonly code: string = "LOTSE_CONFIG";
}
