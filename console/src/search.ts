// Readers of search parameters: the state of a page lives in its address, typed. A parameter that does not fit is left out.

type Raw = Readonly<Record<string, unknown>>;
type Reader<T> = (value: unknown) => T | undefined;
type Read<R extends Readonly<Record<string, Reader<unknown>>>> = {
  readonly [K in keyof R]?: R[K] extends Reader<infer T> ? T | undefined : never;
};

export const text: Reader<string> = (value) =>
  typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : undefined;

export const whole: Reader<number> = (value) => {
  const number = Number(text(value));
  return Number.isSafeInteger(number) && text(value) !== "" ? number : undefined;
};

export const flag: Reader<boolean> = (value) => {
  const word = text(value);
  return word === "true" ? true : word === "false" ? false : undefined;
};

/** One of these words. */
export function oneOf<const W extends string>(...words: readonly W[]): Reader<W> {
  return (value) => words.find((word) => word === value);
}

/** A filter that is on, off, or not set, as the API takes it. */
export const yesOrNo = oneOf("true", "false");

/** The reader of a page's search parameters: `search: searchOf({ q: text, page: whole, sort: oneOf("price", "age") })`. */
export function searchOf<R extends Readonly<Record<string, Reader<unknown>>>>(readers: R): (raw: Raw) => Read<R> {
  return (raw) => {
    const pairs = Object.entries(readers).map(([name, read]) => [name, read(raw[name])] as const);
    const known = pairs.filter(([, value]) => value !== undefined);
    // Each value was read by the reader of its name.
    return Object.fromEntries(known) as Read<R>;
  };
}

/** Search parameters as plain text: `?q=price<2&page=3`, as curl and people write them. */
export const plainSearch = {
  parseSearch: (searchText: string): Record<string, string> => Object.fromEntries(new URLSearchParams(searchText)),
  stringifySearch(values: Record<string, unknown>): string {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(values)) {
      const word = text(value);
      if (word !== undefined) parameters.set(name, word);
    }
    return parameters.size === 0 ? "" : `?${parameters.toString()}`;
  },
};
