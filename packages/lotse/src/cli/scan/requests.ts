/** From one call of the client to what it needs. */
import { allNamespaces } from "@lotse/client";
import type { Need } from "../../generate/index.ts";
import { needOf } from "../../report/index.ts";
import { type Ask, type CallRule, RULED_CLASSES, ruleFor } from "./calls.ts";
import type { KindContext, KindFound, KindReader } from "./kinds.ts";
import type { MemberName, Reading } from "./reading.ts";
import type { Syntax } from "./syntax.ts";

/** What a call turned out to be: needs, or a word about what cannot be known. */
export type CallFinding = { readonly needs: readonly Need[] } | { readonly gap: string };

/** Who asks, and where. */
export type Asker = Pick<Need, "by" | "sourceLocation">;

/** Stands for a part of a path that is another one each time. */
const ANY_WORD = "x";

/** See the module comment. */
export class RequestReader {
  readonly #reading: Reading;
  readonly #kinds: KindReader;

  constructor(reading: Reading, kinds: KindReader) {
    this.#reading = reading;
    this.#kinds = kinds;
  }

  /** What a call of a function or method of Lotse needs; `by` says who makes it. */
  read(call: Syntax, { owner, member }: MemberName, context: KindContext, by: Asker): CallFinding {
    const rule = ruleFor(owner, member);
    if (!rule) {
      if (!RULED_CLASSES.includes(owner)) return { needs: [] };
      return { gap: `nobody knows what ${owner}.${member} asks for` };
    }
    if (rule.raw) return this.#raw(call, rule.raw, context, by);
    const kinds = this.#subject(call, rule, context);
    if (rule.subject !== undefined && !kinds) {
      return { gap: `the kind in ${this.#shown(call)} is only known when it runs` };
    }
    const options = this.#options(call, rule);
    const asks = [...rule.asks, ...options.more];
    return { needs: asks.flatMap((ask) => this.#needs(ask, kinds ?? [], options, by)) };
  }

  #subject(call: Syntax, { subject }: CallRule, context: KindContext): readonly KindFound[] | undefined {
    if (subject === undefined) return [];
    const node = subject === "receiver" ? call.expression?.expression : call.arguments?.[subject];
    if (!node) return undefined;
    // An index is read by its handle, and is in memory.
    if (this.#reading.compiler.typesOf(node).some((type) => this.#reading.lotseName(type) === "IndexHandle")) return [];
    return this.#kinds.of(node, context);
  }

  #needs(ask: Ask, kinds: readonly KindFound[], options: CallOptions, by: Asker): Need[] {
    const { of, verbs, subresource } = ask;
    if (of) {
      const [group, plural] = of;
      return [needed(group, plural, subresource, verbs, by, ask.everywhere ?? false)];
    }
    return kinds.map(({ group, plural, namespaced, subresources }) => {
      // Where there is no such subresource, the object itself is written.
      const part = subresource === "scale" && !subresources.includes("scale") ? undefined : subresource;
      const clusterWide = !namespaced || options.everywhere || ask.everywhere === true;
      return needed(group, plural, part ?? options.subresource, verbs, by, clusterWide);
    });
  }

  #options(call: Syntax, rule: CallRule): CallOptions {
    const found: { subresource?: string | undefined; everywhere: boolean; more: Ask[] } = {
      everywhere: false,
      more: [],
    };
    for (const at of rule.options ?? []) {
      const given = call.arguments?.[at];
      const literal = given && this.#reading.objectLiteral(given);
      if (!literal) continue;
      found.subresource ??= this.#reading.literal(this.#reading.property(literal, "subresource"));
      found.everywhere ||= this.#reading.literal(this.#reading.property(literal, "namespace")) === allNamespaces;
      for (const [name, asks] of Object.entries(rule.withOption ?? {})) {
        const value = this.#reading.property(literal, name);
        if (value && !this.#isFalse(value)) found.more.push(...asks);
      }
    }
    return found;
  }

  #isFalse(node: Syntax): boolean {
    return this.#reading.compiler.typesOf(node).every((type) => type.text() === "false");
  }

  #raw(call: Syntax, how: "http" | "websocket", context: KindContext, by: Asker): CallFinding {
    const gap = { gap: `the path in ${this.#shown(call)} is only known when it runs` };
    const [request] = call.arguments ?? [];
    const literal = request && this.#reading.objectLiteral(request);
    const path = literal && this.#path(this.#reading.property(literal, "path"), context);
    const method = literal && (this.#reading.literal(this.#reading.property(literal, "method")) ?? "GET");
    if (path === undefined || method === undefined) return gap;
    const need = needOf({ handler: "", method, path, watch: false, websocket: how === "websocket" });
    return { needs: need ? [{ ...need, ...by }] : [] };
  }

  /** A path with a word in the place of whatever is another one each time. */
  #path(node: Syntax | undefined, context: KindContext): string | undefined {
    if (!node) return undefined;
    const { compiler } = this.#reading;
    const at = this.#reading.bare(node);
    const text = this.#reading.literal(at);
    if (text !== undefined) return text;
    if (compiler.is(at, "TemplateExpression")) {
      const parts = (at.templateSpans ?? []).map(
        ({ expression, literal }) => `${this.#reading.literal(expression) ?? ANY_WORD}${literal?.text ?? ""}`,
      );
      return `${at.head?.text ?? ""}${parts.join("")}`;
    }
    return compiler.is(at, "CallExpression") ? this.#pathOf(at, context) : undefined;
  }

  /** `client.path(Pod, { name, subresource: "log" })` */
  #pathOf(call: Syntax, context: KindContext): string | undefined {
    const [kind, options] = call.arguments ?? [];
    const [found] = (kind && this.#kinds.of(kind, context)) ?? [];
    if (call.expression?.name?.text !== "path" || !found) return undefined;
    const literal = options && this.#reading.objectLiteral(options);
    const has = (name: string) => literal && this.#reading.property(literal, name) !== undefined;
    const subresource = literal && this.#reading.literal(this.#reading.property(literal, "subresource"));
    const place = found.namespaced ? `/namespaces/${ANY_WORD}` : "";
    const name = has("name") ? `/${ANY_WORD}` : "";
    const start = found.group === "" ? "/api/v1" : `/apis/${found.group}/v1`;
    return `${start}${place}/${found.plural}${name}${subresource === undefined ? "" : `/${subresource}`}`;
  }

  /** `client.get(…)`, as people would find it in their file. */
  #shown(call: Syntax): string {
    const callee = call.expression;
    const receiver = callee?.expression?.text;
    const member = callee?.name?.text ?? callee?.text ?? "";
    return `${receiver === undefined ? "" : `${receiver}.`}${member}(…)`;
  }
}

interface CallOptions {
  readonly subresource?: string | undefined;
  readonly everywhere: boolean;
  readonly more: readonly Ask[];
}

function needed(
  group: string,
  plural: string,
  subresource: string | undefined,
  verbs: readonly string[],
  by: Asker,
  clusterWide: boolean,
): Need {
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  return { group, resource, verbs, ...by, clusterWide };
}
