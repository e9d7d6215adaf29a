/**
 * What an operator tells the API server of itself, and how a later version of it finds that again: by labels on each
 * object, and by a note of all of them on one Lease in the operator's namespace. Six kinds would have to be listed to find
 * them by labels; one look at the Lease tells whether there is anything. Pure.
 */

/** What the objects that an operator registers have in common, and are found by. */
export function registeredLabels(operator: string): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/managed-by": "lotse", "lotse.dev/operator": operator };
}

/** The ending of all names of an operator, and the name of its webhook configurations. */
export function domainOf(operator: string): string {
  return `${operator}.lotse.dev`;
}

/** The name of the Lease that notes what an operator has registered. */
export function registeredLease(operator: string): string {
  return `${operator}-registered`;
}

/** Where the Lease has it. */
export const REGISTERED_ANNOTATION = "lotse.dev/registered";

/** The group of all that is registered. */
export const REGISTERED_GROUP = "admissionregistration.k8s.io";

/** One object that an operator has registered. */
export interface RegisteredName {
  readonly plural: string;
  readonly version: string;
  readonly name: string;
}

/** As the Lease has it: arguments that `kubectl delete` takes. */
export function registeredText(names: readonly RegisteredName[]): string {
  return [...new Set(names.map(registeredArgument))].sort().join(" ");
}

/** `validatingwebhookconfigurations.v1.admissionregistration.k8s.io/zoo.lotse.dev` */
export function registeredArgument({ plural, version, name }: RegisteredName): string {
  return `${plural}.${version}.${REGISTERED_GROUP}/${name}`;
}

/**
 * Reads what {@link registeredText} has written. Anything else in it is left out: no other kind is ever looked at because a
 * Lease names it. Webhooks and bindings come first: without them, nothing is judged any more.
 */
export function parseRegistered(text: string): RegisteredName[] {
  const names = text.split(/\s+/).flatMap((argument) => {
    const [, plural, version, group, name] =
      /^([a-z]+)\.(v[a-z0-9]+)\.([a-z0-9.]+)\/([a-z0-9.-]+)$/.exec(argument) ?? [];
    if (plural === undefined || version === undefined || name === undefined || group !== REGISTERED_GROUP) return [];
    return [{ plural, version, name }];
  });
  return names.sort((a, b) => Number(isPolicy(a)) - Number(isPolicy(b)));
}

function isPolicy({ plural }: RegisteredName): boolean {
  return plural.endsWith("policies");
}
