import { KubeError } from "@lotse/client/meta";

/** The data folder cannot be used as it is. Nothing in it was changed. */
export class DataError extends KubeError {
  override readonly code: string = "LOTSE_DATA";
}

/** Something inside the kept data is not what was written there. */
export function damaged(file: string, offset: number, what: string): DataError {
  return new DataError(`the data in ${file} is damaged at byte ${offset}: ${what}`, {
    hint: "nothing was changed: restore the folder from a copy, or start with an empty one",
  });
}
