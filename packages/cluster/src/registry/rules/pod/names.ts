/** Names by which a pod is known and by which it knows others: host names, DNS and aliases. */
import { byteLength } from "@lotse/client/meta";
import { forbiddenField, invalidValue, required, tooLongValue } from "../../fields.ts";
import { checkAddress } from "./addresses.ts";
import { checkSubdomain, type Errors, type Fields, isSet, struct, structs, text, texts } from "./check.ts";

const MOST_SERVERS = 3;
const MOST_SEARCHES = 32;
const LONGEST_SEARCHES = 2_048;
const LONGEST_HOST_NAME = 64;
const LOOSE_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const LOOSE_FORM = `${LOOSE_LABEL}(\\.${LOOSE_LABEL})*`;
const LOOSE_DOMAIN = new RegExp(`^${LOOSE_FORM}$`);
const LOOSE_RULE = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${LOOSE_FORM}')`;

/** Where a pod asks for addresses. */
export function checkDns(spec: Fields, path: string, errors: Errors): void {
  const config = struct(spec.dnsConfig);
  const servers = texts(config?.nameservers);
  if (spec.dnsPolicy === "None") {
    if (config === undefined) {
      errors.push(required(path, "must provide `dnsConfig` when `dnsPolicy` is None"));
      return;
    }
    if (servers.length === 0) {
      const detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
      errors.push(required(`${path}.nameservers`, detail));
      return;
    }
  }
  if (config === undefined) return;
  if (servers.length > MOST_SERVERS) {
    errors.push(invalidValue(`${path}.nameservers`, servers, `must not have more than ${MOST_SERVERS} nameservers`));
  }
  for (const [i, server] of servers.entries()) checkAddress(server, `${path}.nameservers[${i}]`, errors);
  checkSearches(texts(config.searches), `${path}.searches`, errors);
  for (const [i, option] of structs(config.options).entries()) {
    if (text(option.name) === "") errors.push(required(`${path}.options[${i}]`, "must not be empty"));
  }
}

function checkSearches(searches: readonly string[], path: string, errors: Errors): void {
  if (searches.length > MOST_SEARCHES) {
    errors.push(invalidValue(path, searches, `must not have more than ${MOST_SEARCHES} search paths`));
  }
  if (byteLength(searches.join(" ")) > LONGEST_SEARCHES) {
    const detail = `must not have more than ${LONGEST_SEARCHES} characters (including spaces) in the search list`;
    errors.push(invalidValue(path, searches, detail));
  }
  for (const [i, search] of searches.entries()) {
    if (search === ".") continue;
    const domain = search.replace(/\.$/, "");
    if (byteLength(domain) > 253) {
      errors.push(invalidValue(`${path}[${i}]`, domain, "must be no more than 253 characters"));
    }
    if (!LOOSE_DOMAIN.test(domain)) errors.push(invalidValue(`${path}[${i}]`, domain, LOOSE_RULE));
  }
}

/** Lines for a pod's file of hosts. */
export function checkHostAliases(list: readonly Fields[], path: string, errors: Errors): void {
  for (const [i, alias] of list.entries()) {
    checkAddress(text(alias.ip), `${path}[${i}].ip`, errors);
    for (const [j, name] of texts(alias.hostnames).entries()) {
      checkSubdomain(name, `${path}[${i}].hostnames[${j}]`, errors);
    }
  }
}

/** A name for the host that has nothing to do with the pod's own. */
export function checkHostnameOverride(spec: Fields, path: string, errors: Errors): void {
  if (!isSet(spec.hostnameOverride)) return;
  const here = `${path}.hostnameOverride`;
  const name = text(spec.hostnameOverride);
  if (spec.setHostnameAsFQDN === true) {
    errors.push(forbiddenField(here, "may not be specified when setHostnameAsFQDN is true"));
  }
  if (spec.hostNetwork === true) {
    errors.push(forbiddenField(here, "may not be specified when hostNetwork is true"));
  }
  if (byteLength(name) > LONGEST_HOST_NAME) errors.push(tooLongValue(here, LONGEST_HOST_NAME));
  checkSubdomain(name, here, errors);
}
