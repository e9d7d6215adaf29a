/** More different texts than this are not remembered: a server that puts names into its warnings shall not fill memory. */
const REMEMBERED = 1_000;

/** Hears warnings and tells each text once. */
export function tellOnce(tell: (message: string) => void): (message: string) => void {
  const told = new Set<string>();
  return (message) => {
    if (told.has(message)) return;
    if (told.size >= REMEMBERED) told.clear();
    told.add(message);
    tell(message);
  };
}

/**
 * Hears warnings and prints each text once, as kubectl does: what a client does with warnings when its program does not take
 * them. A program with a log of its own passes `onWarning`.
 */
export function printWarningsOnce(
  write: (line: string) => void = (line) => process.stderr.write(line),
): (message: string) => void {
  return tellOnce((message) => write(`Warning: ${message}\n`));
}
