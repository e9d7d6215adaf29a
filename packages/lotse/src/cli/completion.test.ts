import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { main } from "./main.ts";
import { testIo } from "./terminal/test-io.ts";

async function script(shell: string) {
  const io = testIo();
  const code = await main(["completion", shell], io);
  return { code, out: io.out(), err: io.err() };
}

describe("lotse completion", () => {
  it.each(["bash", "zsh", "fish"])("knows all commands and their options in %s", async (shell) => {
    const { code, out } = await script(shell);
    expect(code).toBe(0);
    for (const word of ["dev", "run", "cluster", "explain", "retry", "uninstall"]) expect(out).toContain(word);
    expect(out).toMatch(/(--|-l )log-format/);
  });

  it("completes in a real bash", async () => {
    const { out } = await script("bash");
    const complete = (...words: string[]) =>
      execFileSync(
        "bash",
        [
          "-c",
          `${out}\nCOMP_WORDS=(lotse ${words.join(" ")}); COMP_CWORD=${words.length}; _lotse; echo "\${COMPREPLY[@]}"`,
        ],
        { encoding: "utf8" },
      ).trim();
    expect(complete("clu")).toBe("cluster");
    expect(complete("run", "--log")).toBe("--log-format");
  });

  it("says which shells there are", async () => {
    expect(await script("tcsh")).toEqual({
      code: 2,
      out: "",
      err: 'Error: there is no completion for "tcsh"\nDo:    use bash, zsh, fish\n',
    });
  });
});
