// Conditions of a search text (docs/search.md), so that fields of a form and the text are two views of one query.

const OPERATORS = String.raw`!=|>=|<=|=|>|<|\b(?:not\s+)?(?:in|eq)\b|\b(?:neq|noteq|nin|notin|gte?|lte?)\b`;
const CONDITION = new RegExp(String.raw`\s*(\w+)\s*(${OPERATORS})\s*(\[[^\]]*\]|"[^"]*"|\S+)`, "gy");

export type Condition = { readonly field: string; readonly operator: string; readonly value: string };

/** The conditions of a text, as far as they can be made out, and the rest that is none. */
export function readConditions(text: string): { readonly conditions: readonly Condition[]; readonly rest: string } {
  const conditions: Condition[] = [];
  let end = 0;
  for (const match of text.matchAll(CONDITION)) {
    const [whole, field = "", operator = "", value = ""] = match;
    conditions.push({ field, operator, value });
    end = match.index + whole.length;
  }
  return { conditions, rest: text.slice(end).trim() };
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
