/** Volumes that show files of several sources in one folder. */
import { forbiddenField, invalidValue, required } from "../../fields.ts";
import { checkPresent, type Errors, type Fields, number, struct, structs, text } from "./check.ts";
import { checkFreePath } from "./paths.ts";
import { checkDownwardFile, checkFileMode, checkKeyFile } from "./volume-sources.ts";

const SHORTEST_TOKEN = 600;
const LONGEST_TOKEN = 2 ** 32;

/** A projected volume. */
export function checkProjected(volume: Fields, path: string, errors: Errors): void {
  checkFileMode(volume.defaultMode, `${path}.defaultMode`, errors);
  const paths = new Set<string>();
  const claim = (file: string, told: unknown): void => {
    if (file !== "" && paths.has(file)) errors.push(invalidValue(path, told, "conflicting duplicate paths"));
    paths.add(file);
  };
  for (const [i, source] of structs(volume.sources).entries()) {
    const here = `${path}.sources[${i}]`;
    let found = 0;
    for (const kind of ["secret", "configMap"]) {
      const keys = struct(source[kind]);
      if (keys === undefined) continue;
      found++;
      checkPresent(keys.name, `${here}.${kind}.name`, errors);
      for (const [j, item] of structs(keys.items).entries()) {
        checkKeyFile(item, `${here}.${kind}.items[${j}]`, errors);
        claim(text(item.path), text(keys.name));
      }
    }
    const downward = struct(source.downwardAPI);
    if (downward !== undefined) {
      found++;
      for (const item of structs(downward.items)) {
        checkDownwardFile(item, `${here}.downwardAPI`, errors);
        claim(text(item.path), text(item.path));
      }
    }
    const token = struct(source.serviceAccountToken);
    if (token !== undefined) {
      found++;
      checkToken(token, `${here}.serviceAccountToken`, path, errors);
    }
    if (found > 1) errors.push(forbiddenField(here, "may not specify more than 1 volume type per source"));
  }
}

/** The volume is to blame for a token's path, and not the token. */
function checkToken(token: Fields, here: string, path: string, errors: Errors): void {
  const seconds = number(token.expirationSeconds);
  const field = `${here}.expirationSeconds`;
  if (seconds < SHORTEST_TOKEN) {
    errors.push(invalidValue(field, seconds, "may not specify a duration less than 10 minutes"));
  }
  if (seconds > LONGEST_TOKEN) {
    errors.push(invalidValue(field, seconds, "may not specify a duration larger than 2^32 seconds"));
  }
  if (text(token.path) === "") errors.push(required(`${path}.path`));
  else checkFreePath(text(token.path), `${path}.path`, errors);
}
