/** From an os-release file to labels. */

/** The labels for the lines of an os-release file: `VERSION_ID="12"` is `os-release/version-id: "12"`. */
export function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const [, key, value] = /^\s*([^#=\s]+)=(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined) continue;
    labels[`os-release/${clean(key.toLowerCase().replaceAll("_", "-"))}`] = clean(value);
  }
  return labels;
}

/**
 * What is left of a text that may stand in a label: letters, digits, `-`, `_` and `.`, no more than 63 of them, and a
 * letter or digit at either end.
 */
export function clean(text: string): string {
  const allowed = text.replaceAll(/[^0-9a-zA-Z_.-]+/g, "").replace(/^[_.-]+/, "");
  return allowed.slice(0, 63).replace(/[_.-]+$/, "");
}
