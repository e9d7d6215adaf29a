/**
 * Parsing a large list piece by piece, so that nothing else in the process has to wait for the whole of it: 500 Pods are
 * four megabytes, and tens of milliseconds.
 *
 * The text is cut where one item seems to end and the next one to begin. No step makes sure that it does, because the parser
 * finds every wrong cut: inside of an item a piece has brackets too many or too few, and is no JSON.
 */

const ITEMS = Buffer.from('"items":[{');
const COLON = 0x3a;
/** A few milliseconds of parsing. */
const PIECE_BYTES = 256 * 1024;

/** Worth the trouble. */
export const LARGE_BYTES = 4 * PIECE_BYTES;

/** The list, or undefined where the text is none that can be cut; then it has to be parsed whole. */
export async function parseLargeList(bytes: Buffer, pieceBytes = PIECE_BYTES): Promise<unknown> {
  const start = bytes.indexOf(ITEMS) + ITEMS.length - 1;
  if (start < ITEMS.length) return undefined;
  const head = bytes.toString("utf8", 0, start);
  if (!opensItems(head)) return undefined;
  const items: unknown[] = [];
  let from = start;
  for (const cut of findCuts(bytes, start, pieceBytes)) {
    const piece = parse(`[${bytes.toString("utf8", from, cut - 1)}]`);
    if (!Array.isArray(piece)) return undefined;
    for (const item of piece) items.push(item);
    from = cut;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  const list = parse(`${head}${bytes.toString("utf8", from)}`) as { items?: unknown } | undefined;
  if (!Array.isArray(list?.items)) return undefined;
  list.items = items.concat(list.items);
  return list;
}

/** Whether the items that come next are those of the list itself. */
function opensItems(head: string): boolean {
  const list = parse(`${head}]}`);
  return typeof list === "object" && list !== null && Object.keys(list).at(-1) === "items";
}

/** Where items begin, about a piece apart. All items of a list begin with the same key. */
function* findCuts(bytes: Buffer, start: number, pieceBytes: number): Iterable<number> {
  const between = `},${bytes.toString("utf8", start, bytes.indexOf(COLON, start) + 1)}`;
  for (let at = start; ; ) {
    at = bytes.indexOf(between, at + pieceBytes) + 2;
    if (at === 1) return;
    yield at;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
