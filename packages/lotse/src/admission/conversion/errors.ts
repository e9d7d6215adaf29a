import { KubeError } from "@lotse/client/meta";

/** Whose conversion: for people, `Shop default/corner`, and the versions. */
export interface ConversionAbout {
  readonly object: string;
  readonly from: string;
  readonly to: string;
}

/** An object cannot be converted. Its message names the object, both versions and, where it is known, the field. */
export class ConversionError extends KubeError {
  override readonly code: string = "LOTSE_CONVERSION";
  readonly about: ConversionAbout;
  /** `spec.shape`, where it is known. */
  readonly field: string | undefined;

  constructor(about: ConversionAbout, why: string, { field, cause }: { field?: string; cause?: unknown } = {}) {
    const at = field === undefined ? "" : `${field}: `;
    super(`${about.object} cannot be converted from ${about.from} to ${about.to}: ${at}${why}`, {
      ...(cause !== undefined && { cause }),
    });
    this.about = about;
    this.field = field;
  }
}
