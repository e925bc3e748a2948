import { fieldsOf } from "./loosen.ts";
import { nearestName } from "./search-fields.ts";

/**
 * Warns of conditions on fields that this version does not know, and goes on: a newer server may know them. A server
 * leaves out conditions on fields that it does not know, so that a typing error would go unnoticed.
 */
export function warnOfUnknownFields(q: string, known: readonly string[]): void {
  for (const field of new Set(fieldsOf(q))) {
    if (known.includes(field)) continue;
    const nearest = nearestName(field, known);
    const hint = nearest === undefined ? "See docs/search.md for all fields." : `Did you mean ${nearest}?`;
    process.stderr.write(`warning: ${field} is not a field to search by. ${hint}\n`);
  }
}
