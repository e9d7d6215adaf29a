// The console's page. What is shown follows the address (`#kind/namespace/name`), so that back, forward and reload work;
// what the server streams only says that something changed, and the page asks for the newest state.
import { createDetail } from "./detail.js";
import { age, ask, byId, h, throttled } from "./dom.js";
import { createLog } from "./log.js";
import { token } from "./session.js";

const kinds = new Map();
const changed = new Set();
let place = readPlace();
let table = { columns: [], rows: [] };

const detail = createDetail({ onClose: () => go({ kind: place.kind }) });
const log = createLog({ choose: openObject, isChosen: isChosenObject });

function readPlace() {
  const [kind, namespace, name] = location.hash.slice(1).split("/").map(decodeURIComponent);
  return { kind: kind || undefined, namespace: namespace || undefined, name: name || undefined };
}

function go({ kind, namespace, name }) {
  const parts = name ? [kind, namespace ?? "", name] : [kind];
  location.hash = parts.map(encodeURIComponent).join("/");
}

const keyOf = ({ namespace, name }) => `${namespace ?? ""}/${name}`;

function isChosenObject(object) {
  const kind = kinds.get(place.kind);
  return Boolean(object && place.name && object.kind === kind?.kind && keyOf(object) === keyOf(place));
}

function openObject(object) {
  const group = object.apiVersion.includes("/") ? object.apiVersion.split("/")[0] : "";
  const kind = [...kinds.values()].find((one) => one.kind === object.kind && one.group === group);
  if (kind) go({ kind: kind.id, namespace: object.namespace, name: object.name });
}

function renderKinds() {
  const items = [...kinds.values()].map(({ id, kind, group, version, count, phase, problem }) => {
    const attributes = { type: "button", "aria-current": String(id === place.kind), onclick: () => go({ kind: id }) };
    const about = problem ?? (group ? `${group}/${version}` : version || "looking for it");
    return h(
      "li",
      {},
      h(
        "button",
        attributes,
        h("span", {}, kind),
        h("span", { className: "count" }, count === undefined ? "…" : String(count)),
        h("small", { className: phase === "waiting" ? "bad" : "", title: about }, about),
      ),
    );
  });
  const had = byId("kinds").contains(document.activeElement);
  byId("kinds").replaceChildren(...items);
  if (had) byId("kinds").querySelector('[aria-current="true"]')?.focus();
  if (items.length === 0) byId("kinds").append(h("li", { className: "empty" }, "The operator handles no kinds."));
}

function renderTable() {
  const kind = kinds.get(place.kind);
  byId("objects-title").textContent = kind?.kind ?? "Objects";
  const wanted = byId("filter").value.trim().toLowerCase();
  const rows = table.rows.filter((row) => keyOf(row).toLowerCase().includes(wanted));
  byId("objects-note").textContent = table.truncated ? `the first ${table.rows.length}` : "";
  if (rows.length === 0) {
    const text = table.rows.length > 0 ? "No object matches the filter." : "There are no objects of this kind.";
    byId("objects").replaceChildren(h("p", { className: "empty" }, text));
    return;
  }
  const focused = document.activeElement?.closest("#objects tr")?.dataset.key;
  const namespaced = kind?.namespaced ?? true;
  const isNumber = ({ type }) => type === "integer" || type === "number";
  const heads = [
    h("th", { scope: "col" }, "Name"),
    ...(namespaced ? [h("th", { scope: "col" }, "Namespace")] : []),
    ...table.columns.map((column) =>
      h("th", { scope: "col", title: column.description, className: isNumber(column) ? "number" : "" }, column.name),
    ),
    h("th", { scope: "col" }, "Age"),
  ];
  const body = rows.map((row) => {
    const key = keyOf(row);
    const classes = [
      row.deleting ? "deleting" : "",
      changed.has(key) ? "changed" : "",
      place.name && key === keyOf(place) ? "chosen" : "",
    ];
    const open = () => go({ kind: place.kind, namespace: row.namespace, name: row.name });
    const element = h(
      "tr",
      { className: classes.filter(Boolean).join(" "), "data-key": key },
      h("td", {}, h("button", { type: "button", className: "link", onclick: open }, row.name)),
      ...(namespaced ? [h("td", {}, row.namespace ?? "")] : []),
      ...row.cells.map((cell, at) => {
        const text = cell === null ? "" : String(cell);
        return h("td", { title: text, className: isNumber(table.columns[at]) ? "number" : "" }, text);
      }),
      h("td", { "data-created": row.created ?? "", title: row.created ?? "" }, age(row.created)),
    );
    return element;
  });
  changed.clear();
  byId("objects").replaceChildren(
    h("table", { "aria-labelledby": "objects-title" }, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...body)),
  );
  // The rows are new elements: whoever walks through them by keyboard must not lose the place.
  if (focused !== undefined) {
    byId("objects")
      .querySelector(`tr[data-key="${CSS.escape(focused)}"] button`)
      ?.focus({ preventScroll: true });
  }
}

async function loadTable() {
  const { kind } = place;
  if (!kind) return;
  try {
    const answer = await ask("/api/objects", { kind });
    if (kind !== place.kind) return;
    table = answer;
    renderTable();
  } catch (error) {
    if (kind === place.kind) complain(error);
  }
}

const reloadTable = throttled(150, loadTable);
const reloadDetail = throttled(150, () => detail.reload());

function complain(error) {
  byId("objects").replaceChildren(h("p", { className: "empty bad", role: "alert" }, error.message));
}

async function loadKinds() {
  const answer = await ask("/api/kinds");
  kinds.clear();
  for (const kind of answer.kinds) kinds.set(kind.id, kind);
  byId("server").textContent = answer.context ? `${answer.context} · ${answer.server}` : answer.server;
  if (!kinds.has(place.kind)) place = { kind: answer.kinds[0]?.id };
  renderKinds();
}

function show() {
  renderKinds();
  renderTable();
  if (place.name) void detail.open(place);
  else detail.close();
  log.refilter();
}

window.addEventListener("hashchange", () => {
  const before = place;
  place = readPlace();
  place.kind ??= [...kinds.keys()][0];
  if (before.kind !== place.kind) {
    table = { columns: [], rows: [] };
    void loadTable();
  }
  show();
  if (place.name) detail.focus();
  else if (before.name) {
    byId("objects")
      .querySelector(`tr[data-key="${CSS.escape(keyOf(before))}"] button`)
      ?.focus();
  }
});

byId("filter").addEventListener("input", renderTable);

setInterval(() => {
  for (const cell of document.querySelectorAll("[data-created]")) cell.textContent = age(cell.dataset.created);
}, 1000);

function connect() {
  // No header can be given to it.
  const events = new EventSource(`/api/events?${new URLSearchParams({ token })}`);
  const badge = byId("connection");
  events.addEventListener("open", async () => {
    badge.textContent = "live";
    badge.classList.add("good");
    // What changed while nobody listened is not told again.
    await loadKinds();
    await loadTable();
    show();
  });
  events.addEventListener("error", async () => {
    badge.classList.remove("good");
    const refused = events.readyState === EventSource.CLOSED;
    badge.textContent = refused ? "not connected" : "not connected, trying again";
    // A refusal is for good, and the stream does not tell why.
    if (refused) await loadKinds().catch(complain);
  });
  // The operator was loaded anew.
  events.addEventListener("kinds", async () => {
    await loadKinds();
    await loadTable();
    show();
  });
  events.addEventListener("log", ({ data }) => log.add(JSON.parse(data)));
  events.addEventListener("kind", ({ data }) => {
    const kind = JSON.parse(data);
    const before = kinds.get(kind.id);
    kinds.set(kind.id, kind);
    renderKinds();
    if (kind.id === place.kind && before?.phase !== kind.phase) reloadTable();
  });
  events.addEventListener("change", ({ data }) => {
    const change = JSON.parse(data);
    if (change.kind !== place.kind) return;
    changed.add(keyOf(change));
    reloadTable();
    if (keyOf(change) === keyOf(place)) reloadDetail();
  });
}

connect();
