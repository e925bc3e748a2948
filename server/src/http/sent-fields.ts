import type { TObject } from "typebox";

/** The fields of a request that its schema names. An answer repeats nothing else that was sent. */
export function sentFields({ properties }: TObject, body: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(properties, name)));
}
