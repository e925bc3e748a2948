export type Given<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> };

/** The fields that have a value. Options that were not given are absent from a request, not undefined in it. */
export function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
}
