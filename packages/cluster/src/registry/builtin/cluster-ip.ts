import { ConfigError } from "@lotse/client/meta";
import type { Store } from "../../store/index.ts";
import { objectAt } from "../object.ts";

/** The range that Services get their addresses from; its first address is the API server's own. */
export interface ServiceRange {
  /** As it is written in a ServiceCIDR: `10.96.0.0/16`. */
  readonly cidr: string;
  /** The API server's own address. */
  readonly first: string;
  /** How many addresses can be handed out, the first one included. */
  readonly size: number;
  /** The address with this number, from 1. */
  readonly at: (number: number) => string;
}

const DEFAULT_RANGE = "10.96.0.0/16";
const FORM = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/;

/** Reads a range of IPv4 addresses; a {@link ConfigError} for what is none, or too small for two Services. */
export function serviceRange(text: string = DEFAULT_RANGE): ServiceRange {
  const numbers = FORM.exec(text)?.slice(1).map(Number) ?? [];
  const [a = 256, b = 256, c = 256, d = 256, bits = 33] = numbers;
  if (Math.max(a, b, c, d) > 255 || bits > 30 || bits < 8) {
    throw new ConfigError(`${JSON.stringify(text)} is no range of addresses for Services.`, {
      hint: 'Write one of IPv4 with 8 to 30 fixed bits, such as "10.0.0.0/24".',
    });
  }
  const total = 2 ** (32 - bits);
  const given = a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
  const base = given - (given % total);
  const at = (number: number) => {
    const address = base + number;
    return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
  };
  // Neither the first nor the last address of a network is given to a Service.
  return { cidr: `${at(0)}/${bits}`, first: at(1), size: total - 2, at };
}

/** Hands out addresses that no stored Service has. The store is the only memory, so nothing can leak. */
export function createClusterIpAllocator(
  store: Store,
  range: ServiceRange,
): (wanted: string | undefined) => string | undefined {
  const chosen = firstChosen(range.size);
  let next = chosen;
  return (wanted) => {
    const used = new Set(store.list("services").map((entry) => objectAt(entry.object, "spec").clusterIP));
    if (wanted !== undefined) return used.has(wanted) ? undefined : wanted;
    for (let tries = chosen; tries <= range.size; tries++) {
      const address = range.at(next);
      next = next >= range.size ? chosen : next + 1;
      if (!used.has(address)) return address;
    }
    for (let number = 2; number < chosen; number++) if (!used.has(range.at(number))) return range.at(number);
    return undefined;
  };
}

/**
 * The number of the first address that a server chooses by itself: those below are for Services that ask for one, as long
 * as there are others.
 */
function firstChosen(size: number): number {
  const asked = Math.min(Math.max(16, Math.floor(size / 16)), 256);
  return asked < size ? asked + 1 : 2;
}
