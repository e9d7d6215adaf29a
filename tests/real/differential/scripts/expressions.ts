import type { Json, Script } from "../script.ts";
import { definition } from "./definitions.ts";
import { get, patch, post } from "./requests.ts";

type Fields = { readonly [key: string]: Json };
const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const group = "cel.diff.io";
const all = `/apis/${group}/v1/namespaces/{{ns}}/rules`;

const text = (maxLength?: number): Json => ({ type: "string", ...(maxLength === undefined ? {} : { maxLength }) });
const list = (items: Json, maxItems?: number): Json => ({
  type: "array",
  items,
  ...(maxItems === undefined ? {} : { maxItems }),
});
const map = (values: Json, maxProperties?: number): Json => ({
  type: "object",
  additionalProperties: values,
  ...(maxProperties === undefined ? {} : { maxProperties }),
});
const object = (properties: Fields, ...rules: Json[]): Json => ({
  type: "object",
  properties,
  ...(rules.length > 0 ? { "x-kubernetes-validations": rules } : {}),
});
const rule = (expression: string, more: Fields = {}): Json => ({ rule: expression, ...more });

/** Schemas of `spec` with rules that may or may not be accepted; most differ in what they may cost. */
const schemas: Readonly<Record<string, Json>> = {
  "a comparison of texts without a limit": object({ a: text(), b: text() }, rule("self.a != self.b")),
  "a loop without a limit": object({ l: list(text()) }, rule("self.l.all(x, x == 'a')")),
  "a loop with a limit": object({ l: list(text(10), 10) }, rule("self.l.all(x, x == 'a')")),
  "a loop over short texts without a limit": object({ l: list(text(10)) }, rule("self.l.all(x, x.contains('a'))")),
  "a loop in a loop": object({ l: list(text(10)) }, rule("self.l.all(x, self.l.all(y, x == y))")),
  "a loop in a loop with limits": object(
    { l: list(text(64), 64) },
    rule("self.l.all(x, self.l.exists_one(y, x == y))"),
  ),
  "a loop in a loop with high limits": object(
    { l: list(text(256), 500) },
    rule("self.l.all(x, self.l.exists_one(y, x == y))"),
  ),
  "a pattern without a limit": object({ a: text() }, rule("self.a.matches('^[a-z]+$')")),
  "a pattern in a loop without a limit": object({ l: list(text()) }, rule("self.l.all(x, x.matches('^[a-z]+$'))")),
  "a pattern in a loop over short texts": object({ l: list(text(20)) }, rule("self.l.all(x, x.matches('^[a-z]+$'))")),
  "a rule in a list without a limit": object({ l: list(object({ a: text() }, rule("self.a.startsWith('x')"))) }),
  "a rule in a list of lists": object({ l: list(list(object({ a: text(5) }, rule("self.a.contains('xyz')")))) }),
  "a rule in a map with a limit": object({ m: map(object({ a: text(5) }, rule("self.a.contains('xyz')")), 5) }),
  "a loop over a map": object({ m: map(text(10)) }, rule("self.m.all(k, self.m[k] != k)")),
  "a loop over a map with limits": object({ m: map(text(10), 20) }, rule("self.m.all(k, self.m[k] != k)")),
  "a list that is made": object(
    { l: list(text(10), 100) },
    rule("self.l.map(x, x + 'a').filter(x, x.size() > 2).size() < 5"),
  ),
  "a list that is made without a limit": object({ l: list(text()) }, rule("self.l.map(x, x + 'a').size() < 5")),
  "membership without a limit": object({ l: list(text()), a: text() }, rule("self.a in self.l")),
  "membership in a loop": object({ l: list(text(5), 100), k: list(text(5), 100) }, rule("self.l.all(x, x in self.k)")),
  "texts that are joined": object({ l: list(text(100), 1000) }, rule("self.l.join(',').size() < 100")),
  "texts that are split": object({ a: text(1000) }, rule("self.a.split(',').all(x, x.trim() != '')")),
  "a text that is replaced": object({ a: text(1000) }, rule("self.a.replace('a', 'bb').lowerAscii() != 'x'")),
  "sorted lists": object({ l: list({ type: "integer" }) }, rule("self.l.isSorted() && self.l.sum() < 10")),
  sets: object({ l: list(text(10), 50), k: list(text(10), 50) }, rule("sets.contains(self.l, self.k)")),
  "an address": object({ a: text(40) }, rule("isIP(self.a) && ip(self.a).family() == 4")),
  "a quantity": object({ a: text(20) }, rule("isQuantity(self.a) && quantity(self.a) == quantity('1k')")),
  "quantities that differ": object({ a: text(20) }, rule("quantity(self.a) != quantity('1k')")),
  "an enumeration": object({ a: { type: "string", enum: ["a", "bb"] }, b: text() }, rule("self.a == self.b")),
  times: object({ a: { type: "string", format: "date-time" } }, rule("self.a < timestamp('2030-01-01T00:00:00Z')")),
  "a number or a text": object(
    { a: { "x-kubernetes-int-or-string": true } },
    rule("type(self.a) == int ? self.a < 5 : self.a == '5'"),
  ),
  presence: object({ a: object({ b: text() }) }, rule("has(self.a) && has(self.a.b)")),
  "a message without a limit": object(
    { n: { type: "integer" } },
    rule("self.n > 1", { messageExpression: "'too small: ' + string(self.n)" }),
  ),
  "a message with a limit": object({ a: text(10) }, rule("self.a != 'x'", { messageExpression: "'bad: ' + self.a" })),
  "a message that is no text": object({ a: text(10) }, rule("self.a != 'x'", { messageExpression: "self.a.size()" })),
  "a message about nothing": object({ a: text(10) }, rule("self.a != 'x'", { messageExpression: "self.b" })),
  "many rules in lists": object({
    l: list(
      object({ a: text(40) }, rule("self.a.contains('abcdefghijkl')"), rule("self.a.contains('mnopqrstuvwxyz')")),
    ),
    k: list(
      object({ a: text(40) }, rule("self.a.contains('abcdefghijkl')"), rule("self.a.contains('mnopqrstuvwxyz')")),
    ),
  }),
  "an unknown field": object({ a: text(10) }, rule("self.c == 'x'")),
  "an unknown variable": object({ a: text(10) }, rule("this.a == 'x'")),
  "an unknown function": object({ a: text(10) }, rule("self.a.shout() == 'x'")),
  "different types": object({ a: text(10), n: { type: "integer" } }, rule("self.a == self.n")),
  "a sum of different types": object({ a: text(10), n: { type: "integer" } }, rule("self.a + self.n == 'x'")),
  "an order of different types": object({ a: text(10), n: { type: "integer" } }, rule("self.a < self.n")),
  "a number that is no integer": object({ n: { type: "integer" } }, rule("self.n < 1.5")),
  "a missing parenthesis": object({ a: text(10) }, rule("self.a.startsWith('x'")),
  ...Object.fromEntries(
    [
      ...[
        "Wrong value!",
        "self.a b",
        "self. > 1",
        "self.a ==",
        "self.a = 'x'",
        "(self.a",
        "self.a)",
        "[1, 2",
        "[1 2] == []",
      ],
      ...[
        "{1: 2",
        "{1} == {}",
        "self.a == 'x' ? true",
        "&& true",
        "true && && true",
        "!",
        "- 1 -",
        "self..a",
        "self.a[",
      ],
      ...["self.a == 'x", "self.a # 1", "size(self.a", "size(,1)", "true and false", "if true", "self.a & true"],
      ...["self.a == 'x' ||\n self.a 'y'", "self.a.startsWith('x', )", "self.?1", "X{a 1} == 1", "self.a == 'ä' ä"],
    ].map((expression) => [`the mistake in ${JSON.stringify(expression)}`, object({ a: text(10) }, rule(expression))]),
  ),
  "three errors": object(
    { a: text(10), n: { type: "integer" } },
    rule("self.b == 'x' && (self.a + self.n == 'y' || foo(self.n))"),
  ),
  "two unknown names": object({ a: text(10) }, rule("that == other")),
  "an error in a macro and one after it": object({ l: list(text(5), 5) }, rule("self.l.all(x, x == y) && z")),
  "two errors": object({ a: text(10) }, rule("self.b == 'x' && self.c == 'y'")),
  "an old value": object({ a: text(10) }, rule("self.a == oldSelf.a")),
  "an old value in a list": object({ l: list(object({ a: text(10) }, rule("self.a == oldSelf.a")), 10) }),
  "an optional old value": object(
    { a: text(10) },
    rule("!oldSelf.hasValue() || self.a == oldSelf.value().a", { optionalOldSelf: true }),
  ),
  "an optional old value that is not used": object({ a: text(10) }, rule("self.a != ''", { optionalOldSelf: true })),
  "a field path": object({ a: text(10) }, rule("self.a != 'x'", { fieldPath: ".a" })),
  "a field path to nothing": object({ a: text(10) }, rule("self.a != 'x'", { fieldPath: ".c" })),
  "a field path without a dot": object({ a: text(10) }, rule("self.a != 'x'", { fieldPath: "a" })),
  "a message and a reason": object(
    { a: text(10) },
    rule("self.a != 'x'", { message: " m ", reason: "FieldValueDuplicate" }),
  ),
  "an empty message": object({ a: text(10) }, rule("self.a != 'x'", { message: "  " })),
  "a rule of blanks": object({ a: text(10) }, rule("  ")),
  "names that need to be escaped": object(
    { "a-b": text(10), namespace: text(10), "c.d": text(10), __e__: text(10) },
    rule(
      "self.a__dash__b != 'x' && self.__namespace__ != 'x' && self.c__dot__d != 'x' && self.__underscores__e__underscores__ != 'x'",
    ),
  ),
  "optional fields": object({ a: object({ b: text(10) }) }, rule("self.?a.?b.orValue('x') != 'y'")),
  "a bound variable": object({ l: list(text(10), 10) }, rule("cel.bind(n, self.l.size(), n < 5 && n > 0)")),
  "preserved fields": {
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    "x-kubernetes-validations": [rule("self.a == 'x'")],
  },
};

const schema = object({
  name: text(20),
  low: { type: "integer" },
  high: { type: "integer" },
  once: {
    ...(text(10) as Fields),
    "x-kubernetes-validations": [rule("self == oldSelf", { message: "may not change" })],
  },
  first: {
    ...(text(10) as Fields),
    "x-kubernetes-validations": [
      rule("oldSelf.hasValue() || self != 'no'", { message: "may not begin with no", optionalOldSelf: true }),
    ],
  },
  tags: {
    ...(list(text(10), 5) as Fields),
    "x-kubernetes-validations": [
      rule("self.all(x, x != 'bad')", {
        messageExpression: "self.size() > 2 ? 'one of many tags' : 'one of few tags'",
      }),
    ],
  },
  pairs: {
    ...(list(
      {
        ...(object({
          k: text(10),
          v: { ...(text(10) as Fields), "x-kubernetes-validations": [rule("self != 'bad'")] },
        }) as Fields),
        required: ["k"],
        "x-kubernetes-validations": [rule("!has(oldSelf.v) || has(self.v)", { message: "v may not go" })],
      },
      5,
    ) as Fields),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
  },
  labels: { ...(map(text(10), 5) as Fields), "x-kubernetes-validations": [rule("self.all(k, k.startsWith('x'))")] },
  quantity: {
    ...(text(10) as Fields),
    "x-kubernetes-validations": [
      rule("isQuantity(self) && quantity(self).isGreaterThan(quantity('1Ki'))", { reason: "FieldValueRequired" }),
    ],
  },
  mode: { type: "string", enum: ["a", "b", "c"] },
  address: { ...(text(45) as Fields), "x-kubernetes-validations": [rule("isIP(self) || isCIDR(self)")] },
  link: { ...(text(100) as Fields), "x-kubernetes-validations": [rule("url(self).getHost() == 'example.com'")] },
  list: {
    ...(list({ type: "integer" }, 10) as Fields),
    "x-kubernetes-validations": [rule("self.sum() < 10 && self.isSorted() && self.max() < 6")],
  },
  division: { type: "integer", "x-kubernetes-validations": [rule("10 / self > 1")] },
  index: { ...(list({ type: "integer" }, 10) as Fields), "x-kubernetes-validations": [rule("self[1] > 0")] },
  time: { type: "string", format: "date-time", "x-kubernetes-validations": [rule("self.getFullYear() > 2020")] },
  duration: { type: "string", format: "duration", "x-kubernetes-validations": [rule("self < duration('1h')")] },
});

const definitionOfRules = {
  type: "object",
  properties: {
    spec: {
      ...(schema as Fields),
      "x-kubernetes-validations": [
        rule("!has(self.low) || !has(self.high) || self.low <= self.high", {
          messageExpression: "'low ' + (self.low > 100 ? 'much' : 'slightly') + ' above high'",
          fieldPath: ".low",
          reason: "FieldValueForbidden",
        }),
        rule("self.name != 'forbidden'", { message: "not this name" }),
      ],
    },
  },
  "x-kubernetes-validations": [rule("self.metadata.name.size() < 10", { message: "name too long" })],
} as Json;

const object1 = (name: string, spec: Fields): Json => ({
  apiVersion: `${group}/v1`,
  kind: "Rule",
  metadata: { name },
  spec: { name: "n", ...spec },
});

/** Objects that the rules let pass or not. */
const specs: Readonly<Record<string, Fields>> = {
  "low above high": { low: 3, high: 2 },
  "low far above high": { low: 300, high: 2 },
  "a forbidden name": { name: "forbidden" },
  "no at the beginning": { first: "no" },
  "a bad tag": { tags: ["a", "bad"] },
  "a bad value in a pair": { pairs: [{ k: "1", v: "bad" }] },
  "a bad label": { labels: { x1: "a", y: "b" } },
  "a small quantity": { quantity: "1" },
  "a quantity that is none": { quantity: "many" },
  "a good quantity": { quantity: "2Ki" },
  "a bad address": { address: "1.2.3" },
  "a network": { address: "10.0.0.0/8" },
  "a bad link": { link: "https://example.org/x" },
  "a link that is none": { link: "not a link" },
  "a list out of order": { list: [3, 1] },
  "a list that is too much": { list: [1, 2, 9] },
  "a division by nothing": { division: 0 },
  "an index beyond the end": { index: [1] },
  "an old time": { time: "2019-01-02T03:04:05Z" },
  "a long duration": { duration: "2h" },
  "two mistakes": { name: "forbidden", tags: ["bad"] },
  "a mistake of the schema": { mode: "z", name: "forbidden" },
};

/** The Common Expression Language: what a definition may say, and what its rules then do. */
export const expressions: Script = {
  title: "expressions",
  namespace: "diff-cel",
  steps: [
    ...Object.entries(schemas).map(([what, spec]) =>
      post(`defines ${what}`, crds, definition(group, "Bad", { type: "object", properties: { spec } } as Json), {
        query: { dryRun: "All" },
        anyOrder: true,
      }),
    ),
    post("defines", crds, definition(group, "Rule", definitionOfRules)),
    get("waits until it is served", all, {}, { until: { status: 200 } }),
    ...Object.entries(specs).map(([what, spec]) =>
      post(`creates with ${what}`, all, object1("dry", spec), { query: { dryRun: "All" }, anyOrder: true }),
    ),
    post("creates with a long name", all, object1("a-very-long-name", {}), { query: { dryRun: "All" } }),
    post(
      "creates",
      all,
      object1("one", {
        once: "a",
        first: "yes",
        low: 1,
        high: 2,
        pairs: [
          { k: "1", v: "a" },
          { k: "2", v: "b" },
        ],
      }),
    ),
    patch("merge", "changes what may not change", `${all}/one`, { spec: { once: "b" } }),
    patch("merge", "takes away what may not change", `${all}/one`, { spec: { once: null } }),
    patch("merge", "changes what may not begin so", `${all}/one`, { spec: { first: "no" } }),
    patch("merge", "takes a value out of a pair", `${all}/one`, { spec: { pairs: [{ k: "1" }, { k: "2", v: "b" }] } }),
    patch("merge", "reorders pairs", `${all}/one`, {
      spec: {
        pairs: [
          { k: "2", v: "b" },
          { k: "1", v: "a" },
        ],
      },
    }),
    patch("merge", "adds a pair", `${all}/one`, { spec: { pairs: [{ k: "3" }, { k: "1", v: "a" }] } }),
    patch("json", "loosens the definition", `${crds}/rules.${group}`, [
      { op: "remove", path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations" },
      {
        op: "remove",
        path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/tags/x-kubernetes-validations",
      },
      { op: "remove", path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/mode/enum" },
    ]),
    post("creates what was forbidden", all, object1("old", { low: 9, high: 1, tags: ["bad", "good"], mode: "z" }), {
      until: { status: 201 },
    }),
    patch("json", "tightens the definition", `${crds}/rules.${group}`, [
      {
        op: "add",
        path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations",
        value: [rule("self.low <= self.high")],
      },
      {
        op: "add",
        path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/tags/x-kubernetes-validations",
        value: [rule("self.all(x, x != 'bad')")],
      },
      {
        op: "add",
        path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/mode/enum",
        value: ["a", "b", "c"],
      },
    ]),
    get("waits until it is tight", all, {}, { until: { status: 200 }, view: (body) => (body as { kind: Json }).kind }),
    patch("merge", "labels what is wrong", `${all}/old`, { metadata: { labels: { a: "b" } } }),
    patch(
      "merge",
      "changes the tags that are wrong",
      `${all}/old`,
      { spec: { tags: ["bad", "better"] } },
      {
        until: { status: 422 },
      },
    ),
    patch("merge", "changes something beside what is wrong", `${all}/old`, { spec: { name: "m" } }),
    patch("merge", "changes the mode that is wrong", `${all}/old`, { spec: { low: 1, mode: "y" } }),
    patch("merge", "makes it right", `${all}/old`, { spec: { low: 1, tags: ["good"], mode: "a" } }),
  ],
};
