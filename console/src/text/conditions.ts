// Conditions of a search text (docs/search.md), so that fields of a form and the text are two views of one query.

const OPERATORS = String.raw`!=|>=|<=|=|>|<|\b(?:not\s+)?(?:in|eq)\b|\b(?:neq|noteq|nin|notin|gte?|lte?)\b`;
const CONDITION = new RegExp(String.raw`\s*(\w+)\s*(${OPERATORS})\s*(\[[^\]]*\]|"[^"]*"|[^\s=<>!"[]\S*)`, "gy");

export type Condition = { readonly field: string; readonly operator: string; readonly value: string };

const WORD = /\s*([\w.-]+)(?=\s|$)/gy;

/** The conditions of a text, as far as they can be made out, and the rest that is none: words, and an end that cannot be read. */
export function readConditions(text: string): { readonly conditions: readonly Condition[]; readonly rest: string } {
  const conditions: Condition[] = [];
  const words: string[] = [];
  let end = 0;
  for (;;) {
    CONDITION.lastIndex = WORD.lastIndex = end;
    const condition = CONDITION.exec(text);
    const [, field = "", operator = "", value = ""] = condition ?? [];
    const word = condition === null ? WORD.exec(text)?.[1] : undefined;
    if (condition !== null) conditions.push({ field, operator, value });
    else if (word !== undefined) words.push(word);
    else break;
    end = condition === null ? WORD.lastIndex : CONDITION.lastIndex;
  }
  return { conditions, rest: [...words, text.slice(end).trim()].filter((part) => part !== "").join(" ") };
}

/** A condition that is being typed: a field, perhaps with its operator and the beginning of a list or a quoted text. */
const UNFINISHED = new RegExp(String.raw`^\w+\s*(?:${OPERATORS}|[!~]|not)?\s*(?:\[[^\]]*|"[^"]*)?$`);
/** Names that can stand in a list of the query language as they are. */
const LISTABLE = /^[\w .+-]+$/;

/**
 * The search that a text means while it is typed. Words beside the conditions choose the GPUs that have them in their
 * names. `unread` is an unfinished condition at the end, which the search leaves out; other mistakes go to the server,
 * which says what is wrong.
 */
export function toSearch(text: string, gpuNames: readonly string[]): { readonly q: string; readonly unread: string } {
  const { conditions, rest } = readConditions(text);
  if (rest === "" || /^\s*[{["]/.test(text)) return { q: text.trim(), unread: "" };
  const known = conditions.map(writeCondition);
  const parts = rest.split(" ");
  for (const end of [parts.length, parts.length - 1]) {
    const [words, unread] = [parts.slice(0, end), parts.slice(end).join(" ")];
    const named = words.length === 0 ? [] : gpuNames.filter((name) => LISTABLE.test(name) && hasWords(name, words));
    if (named.length === 0 || (unread !== "" && !UNFINISHED.test(unread))) continue;
    return { q: [...known, `gpu_name in [${named.map(quoted).join(",")}]`].join(" "), unread };
  }
  return UNFINISHED.test(rest) ? { q: known.join(" "), unread: rest } : { q: text.trim(), unread: "" };
}

function hasWords(name: string, words: readonly string[]): boolean {
  const lower = name.toLowerCase();
  return words.every((word) => word.length > 1 && lower.includes(word.toLowerCase().replaceAll("_", " ")));
}

/** The value of a condition, without quotes; undefined when the text has no such condition. */
export function conditionOf(text: string, field: string, operator: string): string | undefined {
  const found = readConditions(text).conditions.find((one) => one.field === field && one.operator === operator);
  return found?.value.replace(/^"(.*)"$/, "$1");
}

/** The text with this condition in the place of the one on the same field and operator, or without it. */
export function withCondition(text: string, { field, operator, value }: Condition | Unset): string {
  const { conditions, rest } = readConditions(text);
  const kept = conditions.filter((one) => one.field !== field || one.operator !== operator);
  const all = value === undefined ? kept : [...kept, { field, operator, value: quoted(value) }];
  return [...all.map(writeCondition), ...(rest === "" ? [] : [rest])].join(" ");
}

type Unset = Pick<Condition, "field" | "operator"> & { readonly value: undefined };

function writeCondition({ field, operator, value }: Condition): string {
  const gap = /^\w/.test(operator) ? " " : "";
  return `${field}${gap}${operator}${gap}${value}`;
}

/** Blanks of a value are underscores, as names of GPUs are written; other odd texts stand in quotes. */
function quoted(value: string): string {
  const word = value.trim().replaceAll(" ", "_");
  return /^[\w.[\],+-]+$/.test(word) ? word : `"${value.replaceAll('"', "")}"`;
}
