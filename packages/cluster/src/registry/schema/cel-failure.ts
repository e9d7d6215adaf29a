/**
 * Why an expression failed while it ran: what the library says, in the words of the real engine.
 *
 * @example
 * failureText(new Error("No such key: index out of bounds, index 1 >= size 1")); // "index out of bounds: 1"
 */
export function failureText(error: unknown): string {
  const { summary, message } = error as { summary?: string; message: string };
  return (summary ?? message)
    .replace(/^No such key: index out of bounds, index (-?\d+) .*$/, "index out of bounds: $1")
    .replace(/^No such key/, "no such key");
}
