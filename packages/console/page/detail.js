// The panel of one object: as YAML, as JSON, and what the operators remember on it.
import { ask, byId, h } from "./dom.js";

const VIEWS = {
  YAML: ({ yaml }) => [h("pre", {}, yaml)],
  JSON: ({ object }) => [h("pre", {}, JSON.stringify(object, null, 2))],
  Record: ({ records }) => {
    const operators = Object.entries(records);
    if (operators.length === 0) return [h("p", { className: "empty" }, "No operator has a record on this object.")];
    return operators.flatMap(([name, record]) => [
      h("h3", { className: "empty" }, name),
      h("pre", {}, JSON.stringify(record, null, 2)),
    ]);
  },
};

/** `onClose` is called when the panel is closed by its button or by Escape. */
export function createDetail({ onClose }) {
  const panel = byId("detail");
  const body = byId("detail-body");
  const tabs = panel.querySelector(".tabs");
  let view = "YAML";
  let shown;
  let answer;

  const render = () => {
    for (const tab of tabs.children) {
      const selected = tab.textContent === view;
      tab.setAttribute("aria-selected", String(selected));
      tab.tabIndex = selected ? 0 : -1;
    }
    if (!answer) return;
    const { scrollTop } = body;
    body.replaceChildren(...VIEWS[view](answer));
    body.scrollTop = scrollTop;
  };

  const select = (name) => {
    view = name;
    body.scrollTop = 0;
    render();
  };

  for (const name of Object.keys(VIEWS)) {
    const attributes = { type: "button", role: "tab", "aria-controls": "detail-body", onclick: () => select(name) };
    tabs.append(h("button", attributes, name));
  }
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const names = Object.keys(VIEWS);
    const next = (names.indexOf(view) + step + names.length) % names.length;
    select(names[next]);
    tabs.children[next].focus();
  });
  byId("detail-close").addEventListener("click", onClose);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !panel.hidden) onClose();
  });

  const load = async () => {
    const wanted = shown;
    if (!wanted) return;
    try {
      const got = await ask("/api/object", wanted);
      if (wanted !== shown) return;
      answer = got;
      render();
    } catch (error) {
      if (wanted !== shown) return;
      answer = undefined;
      body.replaceChildren(h("p", { className: "empty bad", role: "alert" }, error.message));
    }
  };

  return {
    /** Shows `{ kind, namespace, name }`. */
    open(reference) {
      shown = reference;
      answer = undefined;
      panel.hidden = false;
      byId("detail-title").textContent = reference.namespace
        ? `${reference.namespace}/${reference.name}`
        : reference.name;
      body.replaceChildren();
      render();
      return load();
    },
    close() {
      shown = undefined;
      panel.hidden = true;
    },
    reload: load,
    focus: () => byId("detail-title").focus(),
  };
}
