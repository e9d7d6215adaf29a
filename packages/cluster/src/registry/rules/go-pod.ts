/** Pods as the server prints its own structs in sentences. */
import { isRecord } from "../object.ts";
import { podStructs } from "../tables/index.ts";

type Fields = Readonly<Record<string, unknown>>;

interface Field {
  /** As it is printed. */
  readonly name: string;
  /** As it is called in JSON. */
  readonly key: string;
  readonly sort: "s" | "b" | "i" | "n" | "struct" | "pointer" | "list";
  /** Of structs. */
  readonly struct: string;
  readonly omitted: boolean;
}

/** What the server keeps in the security context and everybody else in the spec. */
const MOVED = ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"];
const META = ["name", "generateName", "namespace", "labels", "annotations", "ownerReferences", "finalizers"];
const ZERO = { s: "", b: false, i: 0, n: null } as const;

/** By the name of each struct. It is read anew for each sentence: nobody gets many of these. */
type Structs = ReadonlyMap<string, readonly Field[]>;

function readStructs(): Structs {
  const lines = podStructs.trim().split("\n");
  return new Map(
    lines.map((line) => {
      const [name = "", ...fields] = line.split(" ");
      return [name, fields.map(readField)];
    }),
  );
}

function readField(text: string): Field {
  const [names = "", type = ""] = text.split("=");
  const [name = "", key = `${name[0]?.toLowerCase()}${name.slice(1)}`] = names.split("/");
  const omitted = type.startsWith("?");
  const code = omitted ? type.slice(1) : type;
  if (code === "s" || code === "b" || code === "i" || code === "n")
    return { name, key, sort: code, struct: "", omitted };
  const sort = code.startsWith("*") ? "pointer" : code.startsWith("[") ? "list" : "struct";
  return { name, key, sort, struct: sort === "struct" ? code : code.slice(1), omitted };
}

/** A spec as the server has it. */
export function goPodSpec(spec: Fields): Record<string, unknown> {
  const context = isRecord(spec.securityContext) ? spec.securityContext : {};
  const moved = Object.fromEntries(MOVED.map((key) => [key, spec[key]]));
  return goStruct({ ...spec, securityContext: { ...context, ...moved } }, "PodSpec", readStructs());
}

/** A template as the server has it: its metadata is not inside of anything. */
export function goPodTemplate(template: Fields): Record<string, unknown> {
  const meta = isRecord(template.metadata) ? template.metadata : {};
  const shown = META.filter((key) => meta[key] !== undefined && meta[key] !== null).map((key) => [key, meta[key]]);
  return { ...Object.fromEntries(shown), Spec: goPodSpec(isRecord(template.spec) ? template.spec : {}) };
}

function goStruct(value: Fields, struct: string, structs: Structs): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const field of structs.get(struct) ?? []) {
    const shown = goField(value[field.key], field, structs);
    const isEmpty = shown === null || shown === "" || shown === 0 || shown === false;
    if (!field.omitted || !isEmpty) result[field.name] = shown;
  }
  return result;
}

function goField(value: unknown, { sort, struct }: Field, structs: Structs): unknown {
  switch (sort) {
    case "list":
      return Array.isArray(value) ? value.map((item) => goStruct(isRecord(item) ? item : {}, struct, structs)) : null;
    case "pointer":
      return isRecord(value) ? goStruct(value, struct, structs) : null;
    case "struct":
      return goStruct(isRecord(value) ? value : {}, struct, structs);
    default:
      return value ?? ZERO[sort];
  }
}
