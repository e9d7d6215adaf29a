/** Names in generated TypeScript: of types, unique in their module, and of fields. */

/** Names that a generated module has already, or must not shadow. */
const TAKEN = [
  "defineKind",
  "KubeBody",
  "Record",
  "Array",
  "String",
  "Number",
  "Boolean",
  "Object",
  "Function",
  "Symbol",
];

/** Gives each name once. */
export class TypeNames {
  readonly #taken = new Set<string>(TAKEN);

  /** `wanted`, else `wanted` after `prefix`, else with a number. */
  take(wanted: string, prefix = ""): string {
    for (let i = 0; ; i++) {
      const name = i === 0 ? wanted : i === 1 && prefix !== "" ? `${prefix}${wanted}` : `${wanted}${i + 1}`;
      if (this.#taken.has(name)) continue;
      this.#taken.add(name);
      return name;
    }
  }
}

/** `matchLabels` → `MatchLabels`, `cert-manager.io` → `CertManagerIo`, `3d` → `_3d`. */
export function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return /^[A-Za-z]/.test(joined) ? joined : `_${joined}`;
}

/** Whether a field can be written without quotes. */
export function isIdentifier(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name);
}
