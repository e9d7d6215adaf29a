/** From an os-release file to labels. */

/** The labels for the lines of an os-release file: `ID=debian`, `NAME="Debian GNU/Linux"`, and comments. */
export function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const [, key, value] = /^([^#=\s]+)=(.*)$/.exec(line.trim()) ?? [];
    if (key === undefined || value === undefined) continue;
    labels[`os-release/${clean(key)}`] = clean(value.replace(/^(["'])(.*)\1$/, "$2"));
  }
  return labels;
}

/** What is left of a text that may stand in a label: letters, digits, `-`, `_` and `.`, and no more than 63 of them. */
export function clean(text: string): string {
  const trimmed = (part: string) => part.replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "");
  return trimmed(trimmed(text.replace(/[^-A-Za-z0-9_.]+/g, "_")).slice(0, 63));
}
