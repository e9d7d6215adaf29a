/** More different texts than this are not remembered: a server that puts names into its warnings shall not fill memory. */
const REMEMBERED = 1_000;

/**
 * Hears warnings and prints each text once, as kubectl does: what a client does with warnings when nobody else takes
 * them. A program with a log of its own passes `onWarning`.
 */
export function printWarningsOnce(
  write: (line: string) => void = (line) => process.stderr.write(line),
): (message: string) => void {
  const printed = new Set<string>();
  return (message) => {
    if (printed.has(message)) return;
    if (printed.size >= REMEMBERED) printed.clear();
    printed.add(message);
    write(`Warning: ${message}\n`);
  };
}
