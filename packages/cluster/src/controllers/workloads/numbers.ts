/** A number, or so many per cent of `total`. */
export function scaled(value: number | string | undefined, total: number, round: "up" | "down"): number {
  if (value === undefined) return 0;
  if (typeof value === "number") return value;
  const percent = Number(/^(\d+)%$/.exec(value)?.[1] ?? Number.NaN);
  if (Number.isNaN(percent)) return 0;
  return (round === "up" ? Math.ceil : Math.floor)((percent * total) / 100);
}

/** What stands for "no limit" in fields that hold 32 bits. */
export const MAX_INT32: number = 2 ** 31 - 1;
