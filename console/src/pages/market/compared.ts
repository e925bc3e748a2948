// The offers that are compared, as the address has them: `481,512`.

/** Offers side by side at most. */
export const COMPARED_MAX = 4;

/** The ids of a text of the address; anything else in it is left out. */
export function readCompared(text: string): readonly number[] {
  const ids = text.split(",").filter((word) => /^\d{1,15}$/.test(word));
  return [...new Set(ids.map(Number))].slice(0, COMPARED_MAX);
}

/** The newest choices, when there are more than fit; undefined without any. */
export function writeCompared(ids: Iterable<string | number>): string | undefined {
  const text = [...ids].slice(-COMPARED_MAX).join(",");
  return text === "" ? undefined : text;
}
