/** A difference from the real server that is known and accepted for now. */
export interface Deviation {
  readonly script: string;
  readonly step: string;
  /** Dotted paths in the answer (`body.status`, `headers.warning`) that differ; the whole answer unless told. */
  readonly at?: readonly string[];
  /** Why it is so, and what will end it. */
  readonly reason: string;
}

/** For each script its steps, and where in the answer of each the difference is. */
type Places = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

const accepted: readonly { readonly reason: string; readonly places: Places }[] = [
  {
    reason:
      "The documents of OpenAPI v3 describe what kubectl reads; discovery's own paths and types, and v2, come later.",
    places: {
      discovery: {
        "asks for the OpenAPI documents": [
          "headers.etag",
          "body.0",
          "body.1",
          "body.2",
          "body.3",
          "body.4",
          "body.5",
          "body.6",
          "body.7",
          "body.8",
          "body.9",
          "body.10",
          "body.11",
          "body.12",
          "body.13",
          "body.14",
          "body.15",
          "body.16",
          "body.17",
          "body.18",
          "body.19",
          "body.20",
          "body.21",
          "body.22",
          "body.23",
          "body.24",
          "body.25",
          "body.26",
          "body.27",
          "body.28",
          "body.29",
          "body.30",
          "body.31",
          "body.32",
          "body.33",
          "body.34",
          "body.35",
          "body.36",
          "body.37",
          "body.38",
          "body.39",
          "body.40",
          "body.41",
          "body.42",
          "body.43",
          "body.44",
        ],
        "asks for an OpenAPI document": ["body.paths", "body.schemas"],
        "asks for the OpenAPI document of apiextensions": ["body.paths", "body.schemas"],
        "asks for the core OpenAPI document": [
          "body.0",
          "body.1",
          "body.2",
          "body.3",
          "body.4",
          "body.5",
          "body.6",
          "body.7",
          "body.8",
          "body.9",
          "body.10",
          "body.11",
          "body.12",
          "body.13",
          "body.14",
          "body.15",
          "body.16",
          "body.17",
          "body.18",
          "body.19",
          "body.20",
          "body.21",
          "body.22",
          "body.23",
          "body.24",
          "body.25",
          "body.26",
          "body.27",
          "body.28",
          "body.29",
          "body.30",
          "body.31",
          "body.32",
          "body.33",
          "body.34",
          "body.35",
          "body.36",
          "body.37",
          "body.38",
          "body.39",
          "body.40",
          "body.41",
          "body.42",
          "body.43",
          "body.44",
          "body.45",
          "body.46",
          "body.47",
          "body.48",
          "body.49",
          "body.50",
          "body.51",
          "body.52",
          "body.53",
          "body.54",
          "body.55",
          "body.56",
          "body.57",
          "body.58",
          "body.59",
          "body.60",
          "body.61",
          "body.62",
          "body.63",
          "body.64",
          "body.65",
          "body.66",
          "body.67",
          "body.68",
          "body.69",
          "body.70",
        ],
        "asks for an OpenAPI document with a wrong hash": [
          "headers.cache-control",
          "headers.content-type",
          "headers.etag",
          "headers.location",
        ],
        "asks for the old OpenAPI document": ["status", "headers.content-type", "headers.etag", "body"],
      },
    },
  },
  {
    reason: "The real server prints its own Go values and the complaints of its Go libraries here.",
    places: {
      ConfigMaps: {
        "creates with a kind that is nowhere": ["body.message"],
        "creates with a bad field manager": ["body.details", "body.message"],
      },
      patches: {
        "merges with another kind": ["body.details", "body.message"],
        "merges an unknown field strictly": ["body.details", "body.message"],
        "merges strategically an unknown field strictly": ["body.details", "body.message"],
        "merges strategically a wrong type": ["body.details", "body.message"],
      },
      "small kinds": { "creates a lease renewed at 2026-01-02T03:04:05.1234567Z": ["body.message"] },
      CustomResourceDefinitions: {
        "creates one without a storage version": ["body.details", "body.message"],
        "creates one with two storage versions": ["body.details", "body.message"],
        "creates one with a version twice": ["body.details", "body.message"],
        "creates a schema with a bad pattern": ["body.details", "body.message"],
        "creates a schema with a rule that does not parse": ["body.details", "body.message"],
      },
    },
  },
  {
    reason: "The YAML parser words its complaints in its own way and refuses duplicate keys instead of warning.",
    places: {
      "server-side apply": { "applies a field twice": ["status", "body"], "applies broken YAML": ["body.message"] },
      "field validation": {
        "creates from YAML with duplicates": ["status", "headers.warning", "body"],
        "creates from YAML with duplicates strictly": ["body.message"],
        "creates from broken YAML": ["body.message"],
      },
    },
  },
  {
    reason: "Everybody is an administrator until RBAC is there, and reviews say so.",
    places: {
      "paths and methods": { "asks with basic credentials": ["status", "body"] },
      reviews: { "asks who one is": ["body.status"] },
    },
  },
  {
    reason: "Service account tokens, their keys and their issuer come with authentication.",
    places: {
      "paths and methods": {
        "asks for the keys of service accounts": ["status", "headers.content-type", "body"],
        "asks for the issuer": ["status", "headers.cache-control", "headers.content-type", "body"],
      },
      "small kinds": {
        "asks for a short token": ["status", "body.code", "body.details", "body.message", "body.reason"],
        "asks for a token of one that is not there": ["body.details", "body.message"],
      },
    },
  },
  {
    reason: "Who owns a field that a typed kind writes as null is not tracked yet.",
    places: {
      Namespaces: {
        "patches the status": ["body.metadata"],
        "reads as a table": ["body.rows"],
        "reads as a partial object": ["body.metadata"],
        "selects by phase": ["body.items"],
        "deletes dry": ["body.metadata"],
        deletes: ["body.metadata"],
        "waits until only what stays is left": ["body.metadata"],
        "reads a terminating one as a table": ["body.rows"],
      },
    },
  },
  {
    reason: "Rules for events of the new form, and empty fields that nobody owns, come with the events API.",
    places: {
      "small kinds": {
        "posts an event without kind": ["body.metadata"],
        "reads an event": ["body.metadata"],
        "reads an event in its new form": ["body.metadata", "body.reportingController", "body.reportingInstance"],
        "posts an event with eventTime alone": ["status", "body"],
        "counts an event": ["body.metadata"],
        "posts an incomplete new event": ["status", "body"],
        "selects events": ["body.items"],
        "lists events as a table": ["body.rows"],
      },
    },
  },
  {
    reason: "Reviews do not keep managedFields nor check their form as strictly.",
    places: {
      reviews: {
        "asks what one may": ["body.metadata"],
        "asks what one may with a path": ["body.metadata"],
        "asks what one may without saying what": ["status", "body.code", "body.details", "body.message", "body.reason"],
        "asks what one may with both": ["status", "body.code", "body.details", "body.message", "body.reason"],
        "reviews an unknown token": ["body.metadata"],
        "asks what a master may": ["body.metadata"],
        "asks what nobody may": ["status", "body"],
        "reads a review": ["status", "body.code", "body.message", "body.reason"],
        "asks who one is as a table": ["status", "body"],
      },
    },
  },
  {
    reason:
      "Details of the validation of definitions that come with the next round; the real server refuses or warns, too, in other words.",
    places: {
      CustomResourceDefinitions: {
        "creates one with a bad version name": ["body.details", "body.message"],
        "creates one with bad names": ["body.details", "body.message"],
        "creates one with a webhook without client": ["body.details", "body.message"],
        "creates one with a column with a bad path": ["status", "body"],
        "creates one with a scale with bad paths": ["body.details", "body.message"],
        "creates a schema with a reference": ["body.details", "body.message"],
        "creates a schema with an unknown format": ["headers.warning"],
        "changes the plural": ["body.details", "body.message"],
        "stores another version in the status": ["status", "body"],
      },
    },
  },
  {
    reason: "The cost of rules is not estimated.",
    places: {
      CustomResourceDefinitions: { "creates a schema with a rule that may cost too much": ["status", "body"] },
    },
  },
  {
    reason: "Details of custom resources that come with the next round.",
    places: {
      "custom resources": {
        "creates with an embedded object without kind": ["status", "body"],
        "creates with a large number": ["body.details", "body.message"],
        "creates with a text as spec": ["body.details", "body.message"],
        "creates without a name": ["body.details", "body.message"],
        "reads the scale as a table": ["body"],
        "reads as a table": ["body.rows"],
        "deletes a collection": ["body.items"],
        "asks for its OpenAPI document": ["body.schemas"],
        "waits until it is terminating": ["body.2"],
      },
    },
  },
];

/** Every accepted difference. One that is gone must leave this list: the suite fails until it does. */
export const deviations: readonly Deviation[] = accepted.flatMap(({ reason, places }) =>
  Object.entries(places).flatMap(([script, steps]) =>
    Object.entries(steps).map(([step, at]) => ({ script, step, at, reason })),
  ),
);
