import type { Client } from "../../../../sdk/src/client.ts";
import { offerSearch } from "../../../../sdk/src/operations.ts";
import { dollars } from "../../output.ts";

/** The parameters of a search. */
export type OfferQuery = Readonly<Record<string, unknown>> & { readonly q: string };

const CONDITIONS_MAX = 8;
const COUNT_MAX = 100;
const CONDITION =
  /\s*(\w+\s*(?:[=!<>]+|\b(?:not\s+)?(?:in|eq)\b|\b(?:neq|noteq|nin|notin|gte?|lte?)\b)\s*(?:\[[^\]]*\]|"[^"]*"|\S+))/gy;

/** The hint for a search without a result: what it would find without one of its conditions. */
export async function suggestLooser(client: Client, query: OfferQuery): Promise<string> {
  const taken = await count(client, { ...query, q: `rentable=any rented=any ${query.q}` });
  if (taken !== undefined) {
    return `No offer matches: ${taken.text} that do are taken now. Wait in the queue for one with: berth queue add`;
  }
  const conditions = splitConditions(query.q);
  const lines: string[] = [];
  for (const [index, condition] of conditions.entries()) {
    const rest = conditions.filter((_, other) => other !== index).join(" ");
    const found = await count(client, { ...query, q: rest });
    if (found !== undefined) lines.push(`  without ${condition}: ${found.text}, from ${dollars(found.from)} per hour`);
  }
  if (lines.length > 0) return ["No offer matches. There would be", ...lines].join("\n");
  const hint = conditions.length > 1 ? " No single condition is to blame." : "";
  return `No offer matches.${hint} See what there is with: berth gpus`;
}

/** The fields of the conditions of a query, as far as they can be made out. */
export function fieldsOf(q: string): readonly string[] {
  return [...q.matchAll(CONDITION)].map(([, text = ""]) => /^\w+/.exec(text)?.[0] ?? "");
}

/** The conditions of a query; none when it cannot be split with certainty, or has too many to try each. */
export function splitConditions(q: string): readonly string[] {
  const conditions = [...q.matchAll(CONDITION)].map(([, text = ""]) => text);
  const isWhole = conditions.join("").replaceAll(/\s/g, "") === q.replaceAll(/\s/g, "");
  return isWhole && conditions.length <= CONDITIONS_MAX ? conditions : [];
}

/** The number of offers and the price of the cheapest; undefined when there is none. */
async function count(client: Client, query: OfferQuery) {
  const q = /\brentable\b/.test(query.q) ? query.q : `rentable=true ${query.q}`;
  const body = { ...query, q, limit: COUNT_MAX, order: [["dph_total", "asc"]], disable_bundling: true };
  const { offers } = await offerSearch(client, { body });
  const [cheapest] = offers;
  if (cheapest === undefined) return undefined;
  return { text: offers.length < COUNT_MAX ? `${offers.length}` : `${COUNT_MAX} or more`, from: cheapest.dph_total };
}
