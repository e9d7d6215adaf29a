// The log: the newest lines, those of the chosen level and object.
import { byId, h } from "./dom.js";

const KEPT = 500;
const ORDER = { debug: 0, info: 1, warn: 2, error: 3 };

/** `choose(object)` opens the object that a line is about; `isChosen(object)` says whether it is open. */
export function createLog({ choose, isChosen }) {
  const list = byId("log");
  const level = byId("log-level");
  const selectedOnly = byId("log-selected");
  const follow = byId("log-follow");
  const lines = [];

  const isShown = ({ level: own, object }) =>
    ORDER[own] >= ORDER[level.value] && (!selectedOnly.checked || isChosen(object));

  const note = () => {
    const hidden = lines.filter(({ element }) => element.hidden).length;
    byId("log-note").textContent = lines.length === 0 ? "nothing yet" : hidden > 0 ? `${hidden} hidden` : "";
  };

  const scroll = () => {
    if (follow.checked) list.scrollTop = list.scrollHeight;
  };

  const refilter = () => {
    for (const { record, element } of lines) element.hidden = !isShown(record);
    note();
    scroll();
  };

  const add = (record) => {
    const element = lineOf(record, choose);
    element.hidden = !isShown(record);
    lines.push({ record, element });
    list.append(element);
    if (lines.length > KEPT) lines.shift().element.remove();
    note();
    scroll();
  };

  for (const control of [level, selectedOnly]) control.addEventListener("change", refilter);
  follow.addEventListener("change", scroll);
  // Whoever scrolls up wants to read; whoever comes back to the end wants to follow again.
  list.addEventListener("wheel", () => requestAnimationFrame(() => (follow.checked = isAtEnd(list))), {
    passive: true,
  });
  list.addEventListener("keyup", () => (follow.checked = isAtEnd(list)));
  note();
  return { add, refilter };
}

const isAtEnd = (list) => list.scrollHeight - list.scrollTop - list.clientHeight < 8;

function lineOf({ time, level, message, fields, object }, choose) {
  const when = new Date(time);
  const { stack, ...rest } = fields;
  const parts = [
    h("time", { dateTime: when.toISOString(), title: when.toLocaleString() }, clockOf(when)),
    h("span", { className: "level" }, level),
  ];
  if (object) {
    const name = object.namespace ? `${object.namespace}/${object.name}` : object.name;
    parts.push(
      h("button", { type: "button", className: "link", title: object.kind, onclick: () => choose(object) }, name),
    );
  }
  parts.push(h("span", {}, message));
  for (const [key, value] of Object.entries(rest)) {
    if (value !== undefined && value !== null) parts.push(h("span", { className: "field" }, `${key}=${short(value)}`));
  }
  if (typeof stack === "string") parts.push(h("details", {}, h("summary", {}, "stack"), h("pre", {}, stack)));
  return h("div", { className: `line ${level}` }, ...parts);
}

const clockOf = (when) =>
  `${when.toLocaleTimeString("en-GB", { hour12: false })}.${String(when.getMilliseconds()).padStart(3, "0")}`;

function short(value) {
  if (typeof value === "string") return /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
  if (typeof value === "object" && typeof value.message === "string") return JSON.stringify(value.message);
  return JSON.stringify(value);
}
