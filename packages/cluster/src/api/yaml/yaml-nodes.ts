/** The tree of a YAML text: what was written where, before a reader says what it means. */
import { EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE } from "js-yaml";

/** A key or value that is written out. `plain`: without quotes, so that `1` is a number. */
export interface ScalarNode {
  readonly type: "scalar";
  readonly text: string;
  readonly plain: boolean;
  readonly tag: string;
  readonly at: number;
}

/** A list as it stands in the text. */
export interface SequenceNode {
  readonly type: "sequence";
  readonly items: YamlNode[];
  readonly at: number;
}

/** A map as it stands in the text, keys in their order, twice where they are written twice. */
export interface MappingNode {
  readonly type: "mapping";
  /** Keys and values in turn. */
  readonly items: YamlNode[];
  readonly at: number;
}

/** `*name`, bound to what `&name` last stood before. */
export interface AliasNode {
  readonly type: "alias";
  readonly name: string;
  readonly target: Exclude<YamlNode, AliasNode>;
  readonly at: number;
}

/** One node; `at` is the offset where it begins. */
export type YamlNode = ScalarNode | SequenceNode | MappingNode | AliasNode;

/** An alias of something that the text does not have. */
export class UnknownAnchorError extends Error {}

/** The first document of a text, or undefined when there is none. What follows it is not even looked at. */
export function composeYaml(text: string, deepest: number): YamlNode | undefined {
  const first = firstDocument(text);
  return compose(first, parseEvents(first, { maxDepth: deepest }));
}

/** A marker at the beginning of a line ends a document, wherever it stands. */
function firstDocument(text: string): string {
  const lead = /^\uFEFF?(?:[^\S\r\n]*(?:#[^\r\n]*)?\r?\n|%[^\r\n]*\r?\n)*(?:---(?=\s|$))?/.exec(text)?.[0].length ?? 0;
  const marker = /^(?:---|\.\.\.)(?=\s|$)/gm;
  marker.lastIndex = lead;
  const found = marker.exec(text);
  return found === null ? text : text.slice(0, found.index);
}

function compose(text: string, events: readonly Event[]): YamlNode | undefined {
  const anchors = new Map<string, AliasNode["target"]>();
  const open: (SequenceNode | MappingNode)[] = [];
  let root: YamlNode | undefined;
  const slice = (start: number, end: number) => (start < 0 ? "" : text.slice(start, end));
  /** Where the last node began: something that was left out stands where its key does. */
  let at = 0;
  const add = (node: YamlNode) => {
    at = node.at;
    const parent = open.at(-1);
    if (parent) parent.items.push(node);
    else root = node;
  };
  for (const event of events) {
    switch (event.type) {
      case EVENT_ID.SCALAR: {
        const { style, tagStart, tagEnd, valueStart } = event;
        const block = style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK;
        // The text of a block begins in the line after its sign.
        const value = valueStart < 0 ? at : block ? Math.max(0, valueStart - 1) : valueStart;
        const node: ScalarNode = {
          type: "scalar",
          text: getScalarValue(text, event),
          plain: style === SCALAR_STYLE.PLAIN,
          tag: slice(tagStart, tagEnd),
          at: beginningOf(event, value),
        };
        if (event.anchorStart >= 0) anchors.set(slice(event.anchorStart, event.anchorEnd), node);
        add(node);
        break;
      }
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING: {
        const type = event.type === EVENT_ID.SEQUENCE ? "sequence" : "mapping";
        const node: SequenceNode | MappingNode = { type, items: [], at: beginningOf(event, event.start) };
        // Before its members, which may name it: that it then contains itself is noticed by the reader that walks.
        if (event.anchorStart >= 0) anchors.set(slice(event.anchorStart, event.anchorEnd), node);
        add(node);
        open.push(node);
        break;
      }
      case EVENT_ID.ALIAS: {
        const name = slice(event.anchorStart, event.anchorEnd);
        const target = anchors.get(name);
        if (!target) throw new UnknownAnchorError(name);
        add({ type: "alias", name, target, at: event.anchorStart });
        break;
      }
      case EVENT_ID.POP:
        open.pop();
        break;
      default:
        break;
    }
  }
  return root;
}

/** Tags and anchors belong to the node that they stand before. */
function beginningOf({ tagStart, anchorStart }: { tagStart: number; anchorStart: number }, value: number): number {
  const starts = [tagStart, anchorStart, value].filter((start) => start >= 0);
  return Math.min(...starts);
}
