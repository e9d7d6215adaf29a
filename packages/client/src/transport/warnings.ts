/** The texts in `Warning` headers: `299 - "text"`, several joined by commas, with `\"` inside a text. */
export function readWarnings(header: string | readonly string[] | undefined): string[] {
  const text = typeof header === "string" ? header : (header ?? []).join(", ");
  return [...text.matchAll(/\b\d{3}\s+\S+\s+"((?:[^"\\]|\\.)*)"/g)].map(([, quoted = ""]) =>
    quoted.replace(/\\(.)/g, "$1"),
  );
}
