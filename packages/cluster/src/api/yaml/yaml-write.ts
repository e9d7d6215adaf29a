import { DEFAULT_SCALAR_STYLE_RULES, dump, SCALAR_STYLE } from "js-yaml";
import { foldYaml } from "./yaml-fold.ts";
import { compareKeys } from "./yaml-keys.ts";

const PRINTABLE = /^[^\p{C}\u2028\u2029]*$/u;
/** Nothing, truth values, numbers and times, as YAML 1.1 knows them. */
const NO_TEXT =
  /^(?:~?|null|true|false|yes|no|on|off|[yn]|[-+]?(?:[\d_]+(?:\.[\d_]*)?(?:e[-+]?\d+)?|\.\d[\d_]*(?:e[-+]?\d+)?|0x[\da-f_]+|0o[0-7_]+|0b[01_]+|\.inf)|\.nan|[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?|\d{4}-\d\d?-\d\d?(?:[Tt\s].*)?)$/i;

/** What that writer leaves as it is, though other writers quote it. */
const PLAIN = new Set(["=", "<<"]);
/** Characters beyond the first 65,536: that writer takes them for unprintable, and escapes them. */
const FAR = /[\u{10000}-\u{10ffff}]/u;

/** Writes YAML as a real server's writer does: keys in order, lists not indented, long texts folded. */
export function writeYaml(value: unknown): string {
  const text = dump(value, {
    sortKeys: compareKeys,
    seqNoIndent: true,
    quoteStyle: "double",
    lineWidth: -1,
    noRefs: true,
    scalarStyleRules: [
      ...Object.values(DEFAULT_SCALAR_STYLE_RULES),
      // Double quotes are for what would be no text without, and for what has to be escaped.
      (layout) => {
        const { value: text } = layout.node;
        if (FAR.test(text)) layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
        else if (PLAIN.has(text)) layout.style = SCALAR_STYLE.PLAIN;
        else if (layout.style === SCALAR_STYLE.DOUBLE_QUOTED && PRINTABLE.test(text) && !NO_TEXT.test(text)) {
          layout.style = SCALAR_STYLE.SINGLE_QUOTED;
        }
      },
    ],
  });
  // The mark of an end behind which more could come: that writer knows that nothing does.
  return foldYaml(text.replace(/\n\.\.\.\n$/, "\n"));
}
