/** Reads fields separated by commas: `score-` sorts the highest first, as in the query language, `score` the lowest. */
export function parseOrder(text: string): readonly (readonly [string, "asc" | "desc"])[] {
  return text
    .split(",")
    .map((field) => (field.endsWith("-") ? [field.slice(0, -1), "desc"] : [field.replace(/\+$/, ""), "asc"]));
}
