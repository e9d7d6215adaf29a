/** What a package says about itself, as far as charts and bundles want to know it. */
import { isObject } from "@lotse/client/meta";

/** A person or a company. */
export interface Contact {
  readonly name: string;
  readonly email?: string;
  readonly url?: string;
}

/** See the module comment. */
export interface About {
  /** Semantic, without a `v`. */
  readonly version: string;
  readonly description: string | undefined;
  readonly homepage: string | undefined;
  readonly source: string | undefined;
  readonly author: Contact | undefined;
  readonly keywords: readonly string[];
}

/** For a project that does not say which version it is. */
const FIRST_VERSION = "0.1.0";

const SEMVER = /^\d+\.\d+\.\d+(?:-[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;

/** Reads what a `package.json` holds; whatever is not as npm wants it counts as not said. */
export function aboutOf(packageJson: unknown): About {
  const said = isObject(packageJson) ? packageJson : {};
  const version = text(said.version);
  return {
    version: version !== undefined && SEMVER.test(version) ? version : FIRST_VERSION,
    description: text(said.description),
    homepage: url(text(said.homepage)),
    source: repositoryUrl(said.repository),
    author: contact(said.author),
    keywords: Array.isArray(said.keywords) ? said.keywords.filter((one) => typeof one === "string" && one !== "") : [],
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim().replaceAll(/\s+/g, " ") : undefined;
}

function url(value: string | undefined): string | undefined {
  return value !== undefined && /^https?:\/\/[^\s<>]+$/.test(value) ? value : undefined;
}

/** `git+https://github.com/a/b.git`, `github:a/b`, `a/b` and `{ url }` are all the same page. */
function repositoryUrl(value: unknown): string | undefined {
  const said = text(isObject(value) ? value.url : value);
  if (said === undefined) return undefined;
  const short = /^(?:github:)?([\w.-]+\/[\w.-]+)$/.exec(said)?.[1];
  const long = short === undefined ? said : `https://github.com/${short}`;
  return url(
    long
      .replace(/^git\+/, "")
      .replace(/^(?:git|ssh):\/\/(?:git@)?/, "https://")
      .replace(/\.git$/, ""),
  );
}

/** `Jo Doe <jo@example.com> (https://example.com)`, or the same as an object. */
function contact(value: unknown): Contact | undefined {
  const parts = isObject(value)
    ? value
    : (/^(?<name>[^<(]+?)\s*(?:<(?<email>[^>]+)>)?\s*(?:\((?<url>[^)]+)\))?$/.exec(text(value) ?? "")?.groups ?? {});
  const name = text(parts.name);
  if (name === undefined) return undefined;
  const email = text(parts.email);
  const page = url(text(parts.url));
  return { name, ...(email?.includes("@") && { email }), ...(page !== undefined && { url: page }) };
}
