/** The OpenAPI document with each reference replaced by its model, for tests that check values by schemas. */
export function inlineModels<T extends object>(document: T): T {
  const at = (reference: string): unknown => {
    let found: unknown = document;
    for (const part of reference.slice(2).split("/")) found = (found as Readonly<Record<string, unknown>>)[part];
    return found;
  };
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline);
    if (typeof value !== "object" || value === null) return value;
    const { $ref: reference, ...others } = value as Readonly<Record<string, unknown>>;
    const members = Object.entries(others).map(([key, member]) => [key, inline(member)] as const);
    if (typeof reference !== "string") return Object.fromEntries(members);
    return { ...(inline(at(reference)) as object), ...Object.fromEntries(members) };
  };
  return inline(document) as T;
}
