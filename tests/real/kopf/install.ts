/** Kopf from PyPI. The benchmark uses the same one. */
import { installPackages } from "../../python.ts";

// uvloop is for the benchmark, which wants Kopf in its fastest form.
const packages = ["kopf==1.45.2", "uvloop==0.23.0"];

/** Kopf cannot be had: whoever needs it cannot run. The message says what to install. */
export { PythonMissingError as KopfMissingError } from "../../python.ts";

/** Installs Kopf unless it is there. Returns the Python that has it. */
export function installKopf(log: (line: string) => void): Promise<string> {
  return installPackages({ title: "Kopf", folder: "kopf", packages }, log);
}
