import { compareQuantities, parseQuantity, type Quantity } from "@lotse/client/meta";
import type { Environment } from "@marcbachmann/cel-js";
import { goNumber } from "./field-errors.ts";
import { isCidr, isIpv4, isIpv6 } from "./formats.ts";
import { compilePattern, type Pattern } from "./pattern.ts";

/** Receivers of functions that belong to a name rather than to a value: `sets.contains(…)`. */
class Sets {}

class QuantityValue {
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}

class UrlValue {
  readonly url: URL;

  constructor(url: URL) {
    this.url = url;
  }
}

class AddressValue {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Adds the functions that Kubernetes has beside the standard ones. */
export function addKubernetesLibrary(environment: Environment): void {
  addStrings(environment);
  addLists(environment);
  addSets(environment);
  addQuantities(environment);
  addUrls(environment);
  addAddresses(environment);
}

function addStrings(environment: Environment): void {
  environment
    .registerFunction("string.charAt(int): string", (text: string, index: bigint) => {
      const chars = [...text];
      if (index < 0n || index > BigInt(chars.length)) throw new RangeError(`index out of range: ${index}`);
      return chars[Number(index)] ?? "";
    })
    .registerFunction("string.replace(string, string): string", (text: string, from: string, to: string) =>
      text.split(from).join(to),
    )
    .registerFunction(
      "string.replace(string, string, int): string",
      (text: string, from: string, to: string, limit: bigint) => {
        const parts = text.split(from);
        if (limit < 0n) return parts.join(to);
        const kept = Math.min(Number(limit), parts.length - 1);
        return [...parts.slice(0, kept), parts.slice(kept).join(from)].join(to);
      },
    )
    .registerFunction("string.reverse(): string", (text: string) => [...text].reverse().join(""))
    .registerFunction("string.find(string): string", (text: string, pattern: string) => {
      const found = regexp(pattern).find(text);
      return found ? text.slice(found.start, found.end) : "";
    })
    .registerFunction("string.findAll(string): list<string>", (text: string, pattern: string) => all(text, pattern))
    .registerFunction("string.findAll(string, int): list<string>", (text: string, pattern: string, limit: bigint) => {
      const found = all(text, pattern);
      return limit < 0n ? found : found.slice(0, Number(limit));
    })
    .registerFunction("string.format(list<dyn>): string", (text: string, values: unknown[]) => format(text, values))
    .registerFunction("string(google.protobuf.Timestamp): string", (time: Date) =>
      time.toISOString().replace(/\.?0*Z$/, "Z"),
    );
}

function regexp(pattern: string): Pattern {
  const compiled = compilePattern(pattern);
  if (!compiled) throw new SyntaxError(`error parsing regexp: ${pattern}`);
  return compiled;
}

function all(text: string, pattern: string): string[] {
  const compiled = regexp(pattern);
  const found: string[] = [];
  for (let span = compiled.find(text); span; ) {
    found.push(text.slice(span.start, span.end));
    // After an empty match the search goes on one character later, or it would find it again.
    const next = span.end > span.start ? span.end : span.end + 1;
    span = next > text.length ? undefined : compiled.find(text, next);
  }
  return found;
}

/** `%s`, `%d`, `%f`, `%e`, `%x`, `%X`, `%o`, `%b` and `%%`, with a precision for numbers. */
function format(text: string, values: readonly unknown[]): string {
  let next = 0;
  return text.replace(/%(?:\.(\d+))?([%sdfexXob])/g, (_, precision: string | undefined, verb: string) => {
    if (verb === "%") return "%";
    if (next >= values.length) throw new RangeError(`index ${next} out of range`);
    const value = values[next++];
    const digits = precision === undefined ? 6 : Number(precision);
    switch (verb) {
      case "d":
        return String(value);
      case "f":
        return Number(value).toFixed(digits);
      case "e":
        return Number(value)
          .toExponential(digits)
          .replace(/e([+-])(\d)$/, "e$10$2");
      case "x":
        return (value as bigint).toString(16);
      case "X":
        return (value as bigint).toString(16).toUpperCase();
      case "o":
        return (value as bigint).toString(8);
      case "b":
        return typeof value === "boolean" ? (value ? "1" : "0") : (value as bigint).toString(2);
      default:
        return textOf(value);
    }
  });
}

function textOf(value: unknown): string {
  if (typeof value === "number") return goNumber(value);
  if (Array.isArray(value)) return `[${value.map(textOf).join(", ")}]`;
  if (value instanceof Map) return `{${[...value].map(([k, v]) => `${textOf(k)}: ${textOf(v)}`).join(", ")}}`;
  return String(value);
}

function addLists(environment: Environment): void {
  const add = (a: bigint | number, b: bigint | number) => (a as number) + (b as number);
  const less = (a: unknown, b: unknown) => (a as number) < (b as number);
  const extreme = (list: unknown[], pick: (a: unknown, b: unknown) => boolean) => {
    if (list.length === 0) throw new RangeError("min/max called on empty list");
    return list.reduce((best, item) => (pick(item, best) ? item : best));
  };
  environment
    .registerFunction("list<int>.sum(): int", (list: bigint[]) => list.reduce((a, b) => add(a, b) as never, 0n))
    .registerFunction("list<double>.sum(): double", (list: number[]) => list.reduce((a, b) => a + b, 0));
  for (const type of ["int", "double", "string", "bool", "google.protobuf.Timestamp"]) {
    environment
      .registerFunction(`list<${type}>.isSorted(): bool`, (list: unknown[]) =>
        list.every((item, i) => i === 0 || !less(item, list[i - 1])),
      )
      .registerFunction(`list<${type}>.min(): ${type}`, (list: unknown[]) => extreme(list, less))
      .registerFunction(`list<${type}>.max(): ${type}`, (list: unknown[]) => extreme(list, (a, b) => less(b, a)))
      .registerFunction(`list<${type}>.indexOf(${type}): int`, (list: unknown[], item: unknown) =>
        BigInt(list.indexOf(item)),
      )
      .registerFunction(`list<${type}>.lastIndexOf(${type}): int`, (list: unknown[], item: unknown) =>
        BigInt(list.lastIndexOf(item)),
      );
  }
  environment
    .registerFunction("list<dyn>.reverse(): list<dyn>", (list: unknown[]) => [...list].reverse())
    .registerFunction("list<dyn>.slice(int, int): list<dyn>", (list: unknown[], from: bigint, to: bigint) =>
      list.slice(Number(from), Number(to)),
    )
    .registerFunction("list<dyn>.distinct(): list<dyn>", (list: unknown[]) => [
      ...new Map(list.map((item) => [identity(item), item])).values(),
    ])
    .registerFunction("list<dyn>.sort(): list<dyn>", (list: unknown[]) =>
      [...list].sort((a, b) => (less(a, b) ? -1 : less(b, a) ? 1 : 0)),
    )
    .registerFunction("list<dyn>.flatten(): list<dyn>", (list: unknown[]) => list.flat());
}

/** A text that equal values share. */
function identity(value: unknown): string {
  return JSON.stringify(value, (_, member) => {
    if (typeof member === "bigint") return { number: Number(member) };
    if (typeof member === "number") return { number: member };
    return member instanceof Map ? { map: [...member] } : member;
  });
}

function addSets(environment: Environment): void {
  const ids = (list: unknown[]) => new Set(list.map(identity));
  const contains = (list: unknown[], part: unknown[]) => {
    const known = ids(list);
    return part.every((item) => known.has(identity(item)));
  };
  environment
    .registerType("kubernetes.Sets", { ctor: Sets, fields: {} })
    .registerConstant("sets", "kubernetes.Sets", new Sets())
    .registerFunction("kubernetes.Sets.contains(list<dyn>, list<dyn>): bool", (_: Sets, a: unknown[], b: unknown[]) =>
      contains(a, b),
    )
    .registerFunction(
      "kubernetes.Sets.equivalent(list<dyn>, list<dyn>): bool",
      (_: Sets, a: unknown[], b: unknown[]) => contains(a, b) && contains(b, a),
    )
    .registerFunction(
      "kubernetes.Sets.intersects(list<dyn>, list<dyn>): bool",
      (_: Sets, a: unknown[], b: unknown[]) => {
        const known = ids(a);
        return b.some((item) => known.has(identity(item)));
      },
    );
}

function addQuantities(environment: Environment): void {
  const isQuantity = (text: string) => {
    try {
      parseQuantity(text);
      return true;
    } catch {
      return false;
    }
  };
  const compare = (a: QuantityValue, b: QuantityValue) => compareQuantities(a.quantity, b.quantity);
  const sum = (a: QuantityValue, nanos: bigint) => new QuantityValue({ nanos: a.quantity.nanos + nanos });
  const unit = 10n ** 9n;
  environment
    .registerType("kubernetes.Quantity", { ctor: QuantityValue, fields: {} })
    .registerFunction("quantity(string): kubernetes.Quantity", (text: string) => new QuantityValue(parseQuantity(text)))
    .registerFunction("isQuantity(string): bool", isQuantity)
    .registerOperator(
      "kubernetes.Quantity == kubernetes.Quantity",
      (a: QuantityValue, b: QuantityValue) => compare(a, b) === 0,
    )
    .registerFunction(
      "kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool",
      (a: QuantityValue, b: QuantityValue) => compare(a, b) < 0,
    )
    .registerFunction(
      "kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool",
      (a: QuantityValue, b: QuantityValue) => compare(a, b) > 0,
    )
    .registerFunction("kubernetes.Quantity.compareTo(kubernetes.Quantity): int", (a: QuantityValue, b: QuantityValue) =>
      BigInt(compare(a, b)),
    )
    .registerFunction(
      "kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity",
      (a: QuantityValue, b: QuantityValue) => sum(a, b.quantity.nanos),
    )
    .registerFunction("kubernetes.Quantity.add(int): kubernetes.Quantity", (a: QuantityValue, b: bigint) =>
      sum(a, b * unit),
    )
    .registerFunction(
      "kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity",
      (a: QuantityValue, b: QuantityValue) => sum(a, -b.quantity.nanos),
    )
    .registerFunction("kubernetes.Quantity.sub(int): kubernetes.Quantity", (a: QuantityValue, b: bigint) =>
      sum(a, -b * unit),
    )
    .registerFunction("kubernetes.Quantity.isInteger(): bool", (a: QuantityValue) => a.quantity.nanos % unit === 0n)
    .registerFunction("kubernetes.Quantity.asInteger(): int", (a: QuantityValue) => {
      if (a.quantity.nanos % unit !== 0n) throw new RangeError("cannot convert value to integer");
      return a.quantity.nanos / unit;
    })
    .registerFunction(
      "kubernetes.Quantity.asApproximateFloat(): double",
      (a: QuantityValue) => Number(a.quantity.nanos) / 1e9,
    )
    .registerFunction("kubernetes.Quantity.sign(): int", (a: QuantityValue) =>
      a.quantity.nanos === 0n ? 0n : a.quantity.nanos < 0n ? -1n : 1n,
    );
}

/** A URL as the server takes it: absolute with a scheme, or an absolute path. */
function parseUrl(text: string): URL | undefined {
  try {
    if (text.startsWith("/")) return new URL(text, "path://");
    return /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text) ? new URL(text) : undefined;
  } catch {
    return undefined;
  }
}

function addUrls(environment: Environment): void {
  environment
    .registerType("kubernetes.URL", { ctor: UrlValue, fields: {} })
    .registerFunction("isURL(string): bool", (text: string) => parseUrl(text) !== undefined)
    .registerFunction("url(string): kubernetes.URL", (text: string) => {
      const url = parseUrl(text);
      if (!url) {
        const why = text === "" ? "empty url" : "invalid URI for request";
        throw new SyntaxError(`URL parse error during conversion from string: parse ${JSON.stringify(text)}: ${why}`);
      }
      return new UrlValue(url);
    })
    .registerFunction("kubernetes.URL.getScheme(): string", (value: UrlValue) =>
      value.url.protocol === "path:" ? "" : value.url.protocol.slice(0, -1),
    )
    .registerFunction("kubernetes.URL.getHost(): string", (value: UrlValue) => value.url.host)
    .registerFunction("kubernetes.URL.getHostname(): string", (value: UrlValue) => value.url.hostname)
    .registerFunction("kubernetes.URL.getPort(): string", (value: UrlValue) => value.url.port)
    .registerFunction("kubernetes.URL.getEscapedPath(): string", (value: UrlValue) => value.url.pathname)
    .registerFunction("kubernetes.URL.getQuery(): map<string, list<string>>", (value: UrlValue) => {
      const query = new Map<string, string[]>();
      for (const [key, member] of value.url.searchParams) query.set(key, [...(query.get(key) ?? []), member]);
      return query;
    });
}

function addAddresses(environment: Environment): void {
  const isIp = (text: string) => (isIpv4(text) && !/(?:^|\.)0\d/.test(text)) || isIpv6(text);
  environment
    .registerType("net.IP", { ctor: AddressValue, fields: {} })
    .registerFunction("isIP(string): bool", isIp)
    .registerFunction("isCIDR(string): bool", isCidr)
    .registerFunction("ip(string): net.IP", (text: string) => {
      if (!isIp(text))
        throw new SyntaxError(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
      return new AddressValue(text);
    })
    .registerFunction("net.IP.family(): int", (value: AddressValue) => (isIpv4(value.text) ? 4n : 6n))
    .registerFunction("string(net.IP): string", (value: AddressValue) => value.text);
}
