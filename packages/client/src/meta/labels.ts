const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const VALUE = `(${NAME})?`;

const isLabelText = new RegExp(`^${LABEL}$`);
const isSubdomainText = new RegExp(`^${SUBDOMAIN}$`);
const isLabel1035Text = new RegExp(`^${LABEL_1035}$`);
const isNameText = new RegExp(`^${NAME}$`);
const isValueText = new RegExp(`^${VALUE}$`);

// The sentences below are the server's own: people search for them, and programs compare them.
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const LABEL_1035_RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const NAME_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const VALUE_RULE = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`;

function explain(rule: string, pattern: string, ...examples: string[]): string {
  return `${rule} (e.g. ${examples.map((e) => `'${e}', `).join(" or ")}regex used for validation is '${pattern}')`;
}

function tooLong(value: string, limit: number): string[] {
  return byteLength(value) > limit ? [`must be no more than ${limit} bytes`] : [];
}

/** The length of a text in UTF-8, which is how the API server counts. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    // A surrogate pair is two units of text and four bytes: two more for its first half, none for its second.
    if (code >= 0xdc00 && code <= 0xdfff) continue;
    bytes += code < 0x800 ? 1 : 2;
  }
  return bytes;
}

/** What is wrong with `value` as an RFC 1123 label, in the API server's words; empty when nothing is. */
export function dns1123LabelErrors(value: string): string[] {
  const errors = tooLong(value, 63);
  if (!isLabelText.test(value)) {
    if (isSubdomainText.test(value)) errors.push("must not contain dots");
    else errors.push(explain(LABEL_RULE, LABEL, "my-name", "123-abc"));
  }
  return errors;
}

/** What is wrong with `value` as an RFC 1123 subdomain, in the API server's words; empty when nothing is. */
export function dns1123SubdomainErrors(value: string): string[] {
  const errors = tooLong(value, 253);
  if (!isSubdomainText.test(value)) errors.push(explain(SUBDOMAIN_RULE, SUBDOMAIN, "example.com"));
  return errors;
}

/** What is wrong with `value` as an RFC 1035 label (a label that starts with a letter); empty when nothing is. */
export function dns1035LabelErrors(value: string): string[] {
  const errors = tooLong(value, 63);
  if (!isLabel1035Text.test(value)) errors.push(explain(LABEL_1035_RULE, LABEL_1035, "my-name", "abc-123"));
  return errors;
}

/** What is wrong with `value` as a label or annotation key (`[prefix/]name`); empty when nothing is. */
export function qualifiedNameErrors(value: string): string[] {
  const errors: string[] = [];
  const parts = value.split("/");
  if (parts.length > 2) {
    const rule = explain(NAME_RULE, NAME, "MyName", "my.name", "123-abc");
    return [`a valid label key ${rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1) ?? "";
  if (parts.length === 2) {
    const prefix = parts[0] ?? "";
    if (prefix === "") errors.push("prefix part must be non-empty");
    else errors.push(...dns1123SubdomainErrors(prefix).map((error) => `prefix part ${error}`));
  }
  if (name === "") errors.push("name part must be non-empty");
  else errors.push(...tooLong(name, 63).map((error) => `name part ${error}`));
  if (!isNameText.test(name)) errors.push(`name part ${explain(NAME_RULE, NAME, "MyName", "my.name", "123-abc")}`);
  return errors;
}

/** What is wrong with `value` as a label's value; empty when nothing is. */
export function labelValueErrors(value: string): string[] {
  const errors = tooLong(value, 63);
  if (!isValueText.test(value)) errors.push(explain(VALUE_RULE, VALUE, "MyValue", "my_value", "12345"));
  return errors;
}

/** What is wrong with `value` as one segment of a URL path (names of RBAC objects); empty when nothing is. */
export function pathSegmentErrors(value: string): string[] {
  if (value === "." || value === "..") return [`may not be '${value}'`];
  return ["/", "%"].filter((text) => value.includes(text)).map((text) => `may not contain '${text}'`);
}

/** Whether `value` can name most objects: dot-separated lower-case labels. */
export function isDns1123Subdomain(value: string): boolean {
  return dns1123SubdomainErrors(value).length === 0;
}

/** Whether `value` can name a namespace: lower-case letters, digits and dashes. */
export function isDns1123Label(value: string): boolean {
  return dns1123LabelErrors(value).length === 0;
}

/** Whether `value` can be the key of a label or an annotation. */
export function isQualifiedName(value: string): boolean {
  return qualifiedNameErrors(value).length === 0;
}

/** Whether `value` can be the value of a label. */
export function isLabelValue(value: string): boolean {
  return labelValueErrors(value).length === 0;
}
