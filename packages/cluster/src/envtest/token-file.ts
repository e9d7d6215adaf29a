import type { TokenUser } from "../options.ts";
import { EnvtestError } from "./errors.ts";

/** Reads lines of `token,user,uid,"group1,group2"`, as `--token-auth-file` takes them. */
export function readTokenFile(text: string): Record<string, TokenUser> {
  const users: [string, TokenUser][] = [];
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [token = "", user = "", uid, groups] = cells(line);
    if (token === "" || user === "" || uid === undefined) {
      throw new EnvtestError(`line ${at + 1} of the token file has no token, user and uid`, "write token,user,uid");
    }
    const list = (groups ?? "").split(",").map((group) => group.trim());
    users.push([token, { user, uid, groups: list.filter((group) => group !== "") }]);
  }
  return Object.fromEntries(users);
}

/** The cells of a line, where quotes keep commas together. */
function cells(line: string): string[] {
  return [...line.matchAll(/(?:^|,)\s*(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain = ""]) =>
    quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'),
  );
}
