import type { Script } from "../script.ts";
import { configMap, get, partial, patch, post, remove, table } from "./requests.ts";

const all = "/api/v1/namespaces/{{ns}}/configmaps";
const mine = { labelSelector: "suite=watches", watch: "true" };
const labels = { suite: "watches" };

/** Streams: what comes, in which order, in which form. */
export const watches: Script = {
  title: "watches",
  namespace: "diff-watches",
  steps: [
    post("creates a", all, configMap("a", { data: { v: "1" } }, { labels }), {
      capture: { rvA: "metadata.resourceVersion" },
    }),
    post("creates b", all, configMap("b", { data: { v: "1" } }, { labels }), {
      capture: { rvB: "metadata.resourceVersion" },
    }),
    get("watches without a version", all, mine, { watch: { events: 2 } }),
    get("watches from version 0", all, { ...mine, resourceVersion: "0" }, { watch: { events: 2 } }),
    get(
      "watches from a version",
      all,
      { ...mine, resourceVersion: "{{rvA}}" },
      {
        watch: {
          events: 5,
          during: [
            patch("merge", "changes a", `${all}/a`, { data: { v: "2" } }),
            patch("merge", "changes a by nothing", `${all}/a`, { data: { v: "2" } }),
            post("creates c", all, configMap("c", {}, { labels })),
            post("creates one that nobody watches", all, configMap("unseen")),
            remove("deletes c", `${all}/c`),
            patch("merge", "changes b", `${all}/b`, { data: { v: "2" } }),
          ],
        },
      },
    ),
    get(
      "watches membership",
      all,
      { watch: "1", labelSelector: "in=yes", resourceVersion: "{{rvB}}" },
      {
        watch: {
          events: 4,
          during: [
            patch("merge", "enters", `${all}/a`, { metadata: { labels: { in: "yes" } } }),
            patch("merge", "changes inside", `${all}/a`, { data: { v: "3" } }),
            patch("merge", "leaves", `${all}/a`, { metadata: { labels: { in: null } } }),
            patch("merge", "changes outside", `${all}/a`, { data: { v: "4" } }),
            patch("merge", "enters again", `${all}/a`, { metadata: { labels: { in: "yes" } } }),
          ],
        },
      },
    ),
    get(
      "watches a field selector",
      all,
      { watch: "1", fieldSelector: "metadata.name=a" },
      {
        watch: {
          events: 2,
          during: [
            patch("merge", "changes the selected", `${all}/a`, { data: { v: "5" } }),
            patch("merge", "changes another", `${all}/b`, { data: { v: "5" } }),
          ],
        },
      },
    ),
    get(
      "watches with initial events",
      all,
      { ...mine, sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" },
      {
        // The real server sends its first ordinary bookmark within a second or two.
        view: (body) => (Array.isArray(body) ? body.slice(0, 4) : body),
        watch: {
          events: 4,
          during: [patch("merge", "changes b after the initial events", `${all}/b`, { data: { v: "6" } })],
        },
      },
    ),
    get(
      "watches with initial events from a version",
      all,
      {
        ...mine,
        sendInitialEvents: "true",
        resourceVersionMatch: "NotOlderThan",
        allowWatchBookmarks: "true",
        resourceVersion: "{{rvB}}",
      },
      { watch: { events: 3 } },
    ),
    get(
      "watches with initial events without bookmarks",
      all,
      { ...mine, sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" },
      { watch: { events: 2 } },
    ),
    get(
      "watches nothing with initial events",
      all,
      {
        watch: "1",
        labelSelector: "suite=none",
        sendInitialEvents: "true",
        resourceVersionMatch: "NotOlderThan",
        allowWatchBookmarks: "true",
      },
      { watch: { events: 1 } },
    ),
    get(
      "watches without initial events",
      all,
      { ...mine, sendInitialEvents: "false", resourceVersionMatch: "NotOlderThan" },
      { watch: { events: 1, during: [patch("merge", "changes b live", `${all}/b`, { data: { v: "7" } })] } },
    ),
    get(
      "watches with initial events without a match",
      all,
      { ...mine, sendInitialEvents: "true" },
      { watch: { events: 0 } },
    ),
    get(
      "watches with initial events and an exact match",
      all,
      { ...mine, sendInitialEvents: "true", resourceVersionMatch: "Exact" },
      { watch: { events: 0 } },
    ),
    get("watches with a match alone", all, { ...mine, resourceVersionMatch: "NotOlderThan" }, { watch: { events: 0 } }),
    get("watches from nonsense", all, { ...mine, resourceVersion: "x" }, { watch: { events: 0 } }),
    get("watches with a bad label selector", all, { watch: "1", labelSelector: "a b" }, { watch: { events: 0 } }),
    get("watches with a bad field selector", all, { watch: "1", fieldSelector: "data.x=1" }, { watch: { events: 0 } }),
    get("watches with a limit", all, { ...mine, limit: "1" }, { watch: { events: 2 } }),
    get("watches with continue", all, { ...mine, continue: "abc" }, { watch: { events: 0 } }),
    get(
      "watches for a second",
      all,
      { ...mine, timeoutSeconds: "1", allowWatchBookmarks: "true", resourceVersion: "0" },
      { watch: { events: 100 }, view: (body) => (Array.isArray(body) ? body.slice(0, 2) : body) },
    ),
    table("watches as a table", all, mine, {
      watch: {
        events: 3,
        during: [patch("merge", "changes b for the table", `${all}/b`, { data: { v: "8", w: "1" } })],
      },
    }),
    get("watches as partial objects", all, mine, { accept: partial, watch: { events: 2 } }),
    get("watches as anything", all, mine, { accept: "*/*", watch: { events: 2 } }),
    get("watches as a stream", all, mine, { accept: "application/json;stream=watch", watch: { events: 2 } }),
    get("watches as XML", all, mine, { accept: "text/xml", watch: { events: 0 } }),
    get(
      "watches the old way",
      `/api/v1/watch/namespaces/{{ns}}/configmaps`,
      { labelSelector: "suite=watches" },
      { watch: { events: 2 } },
    ),
    get("watches one the old way", `/api/v1/watch/namespaces/{{ns}}/configmaps/a`, {}, { watch: { events: 1 } }),
    get("watches all namespaces", "/api/v1/configmaps", mine, { watch: { events: 2 } }),
    get(
      "watches a finalizer's end",
      all,
      { ...mine, sendInitialEvents: "false", resourceVersionMatch: "NotOlderThan" },
      {
        watch: {
          events: 4,
          during: [
            post("creates one with a finalizer", all, configMap("held", {}, { labels, finalizers: ["a.io/x"] })),
            remove("deletes it", `${all}/held`),
            patch("merge", "releases it", `${all}/held`, { metadata: { finalizers: null } }),
          ],
        },
      },
    ),
  ],
};
