export type Given<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> };

/** The fields that have a value, so that options that were not given are absent from a request. */
export function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
}
