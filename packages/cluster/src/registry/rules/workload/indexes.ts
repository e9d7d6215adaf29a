/** Indexes of a job's pods, written as `1,3-5`. */

/** Why indexes cannot be read. */
export interface IndexError {
  readonly error: string;
}

type Interval = readonly [first: number, last: number];

function interval(text: string, completions: number): Interval | IndexError {
  const parts = text.split("-");
  if (parts.length > 2) {
    const rule = "violates the requirement that an index interval can have at most two parts separated by '-'";
    return { error: `the fragment ${JSON.stringify(text)} ${rule}` };
  }
  const numbers: number[] = [];
  for (const part of parts) {
    if (!/^[+-]?\d+$/.test(part))
      return { error: `cannot convert string to integer for index: ${JSON.stringify(part)}` };
    if (Number(part) >= completions) return { error: `too large index: ${JSON.stringify(part)}` };
    numbers.push(Number(part));
  }
  const [first = 0, last = first] = numbers;
  if (parts.length > 1 && first >= last) {
    return { error: `non-increasing order, previous: ${first}, current: ${last}` };
  }
  return [first, last];
}

/** How many indexes a text names, all below `completions`. */
export function indexCount(text: string, completions: number): number | IndexError {
  if (text === "") return 0;
  let before: number | undefined;
  let total = 0;
  for (const part of text.split(",")) {
    const read = interval(part, completions);
    if ("error" in read) return read;
    const [first, last] = read;
    if (before !== undefined && before >= first) {
      return { error: `non-increasing order, previous: ${before}, current: ${first}` };
    }
    total += last - first + 1;
    before = last;
  }
  return total;
}

/** The first index that two texts share; parts that cannot be read are left out. */
export function sharedIndex(one: string, other: string, completions: number): number | undefined {
  const readable = (text: string): Interval[] =>
    text === ""
      ? []
      : text.split(",").flatMap((part) => {
          const read = interval(part, completions);
          return "error" in read ? [] : [read];
        });
  const others = readable(other);
  for (const [first, last] of readable(one)) {
    for (const [from, to] of others) if (first <= to && from <= last) return Math.max(first, from);
  }
  return undefined;
}
