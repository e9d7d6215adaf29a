// Just enough of Markdown: fenced code blocks and relative links.

/**
 * Fenced code blocks. A first line such as `// operator.ts` or `# rate.yaml` names the file that a block shows; after
 * `# program.ts prints` comes what that program writes.
 */
export function codeBlocks(text) {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => {
    const [, file] = /^(?:\/\/|#) ([\w.-]+\.\w+)\n/.exec(code) ?? [];
    const [head, printedBy] = /^# ([\w.-]+\.ts) prints\n/.exec(code) ?? [];
    return printedBy === undefined ? { language, code, file } : { language, code: code.slice(head.length), printedBy };
  });
}

/** The targets of links and pictures to files of the repository, without their anchors; code is not looked at. */
export function links(text) {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target.replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z]+:/.test(target));
}
