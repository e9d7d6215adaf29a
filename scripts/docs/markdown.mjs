// Just enough of Markdown: fenced code blocks and relative links.

/** Fenced code blocks. A first line such as `// operator.ts` or `# rate.yaml` names the file that a block shows. */
export function codeBlocks(text) {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => {
    const [, file] = /^(?:\/\/|#) ([\w.-]+\.\w+)\n/.exec(code) ?? [];
    return { language, code, file };
  });
}

/** The targets of links and pictures to files of the repository, without their anchors; code is not looked at. */
export function links(text) {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target.replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z]+:/.test(target));
}
