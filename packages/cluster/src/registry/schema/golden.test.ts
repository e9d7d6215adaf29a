import { expect, test } from "vitest";
import type { FieldError } from "./field-errors.ts";
import { cases } from "./validate.golden.ts";
import { validateValue } from "./validate.ts";

/** The recorded texts of these say what the error's type says. */
const FOLDED = /should be one of|is required$|at most \d+ (?:chars|items|properties)/;
const SHORT = new Set<FieldError["type"]>(["NotSupported", "Required", "TooLong", "TooMany"]);

test.each(cases.map((text, i) => [i, JSON.parse(text)] as const))(
  "value %i has the errors of a real server",
  (_, one) => {
    const errors = validateValue(one.value, one.schema, { path: "base" }).map(({ type, field, detail }) => {
      return field.replace(/^base\.?/, "") + (SHORT.has(type) ? "" : `|${detail}`);
    });
    const expected = (one.errors as string[]).map((text) => {
      const [name = "", detail = ""] = text.split(/\|(.*)/s);
      return name.replace(/^\./, "") + (FOLDED.test(detail) ? "" : `|${detail}`);
    });
    expect(errors.sort()).toEqual(expected.sort());
  },
);
