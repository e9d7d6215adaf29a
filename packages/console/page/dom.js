// Small helpers around the DOM. Text always goes in as text: nothing of the cluster is ever read as HTML.
import { token } from "./session.js";

/** An element with properties, attributes (`aria-…`, `data-…`, `role`) and children; a child that is a text stays one. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined) continue;
    if (name.includes("-") || name === "role") element.setAttribute(name, String(value));
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Asks the console's server; rejects with its sentence when it cannot answer. */
export async function ask(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${path}?${new URLSearchParams(given)}`, { headers });
  const answer = await response.json();
  if (response.ok) return answer;
  throw new Error(answer.hint ? `${answer.error} (${answer.hint})` : answer.error);
}

/** As kubectl tells ages: the two largest units while they matter. */
export function age(created, now = Date.now()) {
  if (!created) return "";
  const seconds = Math.max(0, Math.floor((now - Date.parse(created)) / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return seconds % 60 ? `${minutes}m${seconds % 60}s` : `${minutes}m`;
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return minutes % 60 ? `${hours}h${minutes % 60}m` : `${hours}h`;
  if (hours < 48) return `${hours}h`;
  if (days < 8) return hours % 24 ? `${days}d${hours % 24}h` : `${days}d`;
  return `${days}d`;
}

/** Runs `work` soon, at most once in `ms`, and never twice at the same time; the last call always gets its run. */
export function throttled(ms, work) {
  let state = "idle";
  const run = async () => {
    state = "running";
    try {
      await work();
    } finally {
      const again = state === "again";
      state = "idle";
      if (again) plan();
    }
  };
  const plan = () => {
    if (state === "running") state = "again";
    else if (state === "idle") {
      state = "planned";
      setTimeout(run, ms);
    }
  };
  return plan;
}
