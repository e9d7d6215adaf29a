/** Paths of files that pods mention. */
import { invalidValue } from "../../fields.ts";
import type { Errors } from "./check.ts";

/** A path that does not climb. */
export function checkNoBacksteps(value: string, path: string, errors: Errors): void {
  if (hasBackstep(value)) errors.push(invalidValue(path, value, "must not contain '..'"));
}

/** Whether one of the path's steps goes up. */
export function hasBackstep(value: string): boolean {
  return value.includes("..") && value.split("/").includes("..");
}

/** A path below something else. */
export function checkLocalPath(value: string, path: string, errors: Errors): void {
  if (value.startsWith("/")) errors.push(invalidValue(path, value, "must be a relative path"));
  checkNoBacksteps(value, path, errors);
}

/** A path below something else; names that begin with two dots are the kubelet's own there. */
export function checkFreePath(value: string, path: string, errors: Errors): void {
  checkLocalPath(value, path, errors);
  if (value.startsWith("..") && !value.startsWith("../")) {
    errors.push(invalidValue(path, value, "must not start with '..'"));
  }
}
