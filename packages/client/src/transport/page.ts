/** What to make of an answer that is a web page: proxies and login portals send them in the place of a server. */

/** What to try when the answer cannot be from an API server. */
export const NO_API_SERVER =
  "is this the address of a Kubernetes API server? A proxy, a load balancer or a login page may have answered";

/** Whether a text begins as web pages do. */
export function isPage(text: string): boolean {
  return /^\s*(?:<!doctype html|<html|<head|<body|<h1|<title)/i.test(text);
}

/** The shortest text that tells who spoke: the title of a page, else the first line. */
export function gistOf(text: string): string {
  if (!isPage(text)) return (text.trim().split("\n", 1)[0] as string).slice(0, 200);
  const [, title] = /<title[^>]*>([^<]+)/i.exec(text) ?? /<h1[^>]*>([^<]+)/i.exec(text) ?? [];
  return title === undefined ? "a web page" : `a web page: "${title.trim().slice(0, 200)}"`;
}
