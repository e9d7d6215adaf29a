/** What every error of Lotse can carry beside its message. */
export interface KubeErrorOptions {
  /** What to do about it, in one sentence. */
  hint?: string;
  cause?: unknown;
}

const BRAND = Symbol.for("lotse.KubeError");

/**
 * The root of all errors of the client. Branded, so that `instanceof` works across two copies of the package.
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
    brand(this, new.target);
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== "object" || value === null) return false;
    const names = (value as { [BRAND]?: readonly string[] })[BRAND];
    return names?.includes(brandOf(this)) ?? false;
  }
}

/** The names of a class and of all its parents up to KubeError: what `instanceof` looks at. */
function brand(error: KubeError, target: unknown): void {
  const names: string[] = [];
  for (let type = target; typeof type === "function" && type !== Error; type = Object.getPrototypeOf(type)) {
    names.push(brandOf(type));
  }
  Object.defineProperty(error, BRAND, { value: names });
}

// `className` and not `name`: a bundler that minifies renames classes, not strings.
function brandOf(type: unknown): string {
  const named = type as { className?: string; name: string };
  return Object.hasOwn(named, "className") ? (named.className as string) : named.name;
}

/** Something in the configuration or in a call's arguments is wrong; nothing was sent. */
export class ConfigError extends KubeError {
  override readonly code: string = "LOTSE_CONFIG";
}
