import { formatAddress, networkOf, parseAddress, parseRange } from "../addresses.ts";

/** An address that is accepted though it should be spelt in another way. */
export function addressWarnings(text: string, path: string): string[] {
  const address = parseAddress(text);
  if (!address) return [];
  const right = formatAddress(address);
  if (address.padded || address.mapped) {
    return [`${path}: non-standard IP address ${JSON.stringify(text)} is invalid: use "${right}"`];
  }
  if (address.v4 || right === text) return [];
  return [`${path}: IPv6 address ${JSON.stringify(text)} should be in RFC 5952 canonical format ("${right}")`];
}

/** The same for a range of addresses, of which it may also be unclear what it means. */
export function rangeWarnings(text: string, path: string): string[] {
  const range = parseRange(text);
  if (!range) return [];
  const { address } = range;
  // A mapped address whose prefix lies in its last four bytes is shown as one of IPv4.
  const short = address.v4 && range.prefix >= 96;
  const network = `${formatAddress(networkOf(range))}/${short ? range.prefix - 96 : range.prefix}`;
  const shown = JSON.stringify(text);
  const warnings: string[] = [];
  if (formatAddress(networkOf(range)) !== formatAddress(address)) {
    const single = `${formatAddress(address)}/${short ? 32 : 128}`;
    warnings.push(`${path}: CIDR value ${shown} is ambiguous in this context (should be "${network}" or "${single}"?)`);
  }
  if (range.padded || address.padded || address.mapped) {
    warnings.push(`${path}: non-standard CIDR value ${shown} is invalid: use "${network}"`);
  }
  const right = `${formatAddress(address)}/${range.bits}`;
  if (warnings.length === 0 && !address.v4 && right !== text) {
    warnings.push(`${path}: IPv6 CIDR value ${shown} should be in RFC 5952 canonical format ("${right}")`);
  }
  return warnings;
}
