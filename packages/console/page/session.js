// Who may look: the address that opens the console carries a token in its fragment, which browsers send to nobody. It is
// kept for this tab alone, and taken off the address, so that it is neither in the history nor in a link that is copied.
const KEY = "lotse-console-token";
const BEGINNING = "#token=";

if (location.hash.startsWith(BEGINNING)) {
  sessionStorage.setItem(KEY, decodeURIComponent(location.hash.slice(BEGINNING.length)));
  history.replaceState(null, "", location.pathname);
}

/** The token; empty for a tab that was opened without one. */
export const token = sessionStorage.getItem(KEY) ?? "";
