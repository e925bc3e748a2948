import type { TemplateContent } from "./content.ts";

export type Version = {
  readonly hashId: string;
  readonly madeAt: Date;
  /** The content; undefined when it no longer decrypts. */
  readonly content: TemplateContent | undefined;
};

export type Change = { readonly field: string; readonly before?: unknown; readonly after?: unknown };

const TEXT_SHOWN_MAX = 1_000;

/**
 * Fields in which a version differs from the one before, in the order of a template's fields. Versions of equal content
 * differ in their password, which nobody is shown. Nothing can be said of a version that no longer decrypts.
 */
export function changesBetween(before: Version | undefined, after: Version): readonly Change[] {
  if (before?.content === undefined || after.content === undefined) return [];
  const [older, newer]: readonly Readonly<Record<string, unknown>>[] = [before.content, after.content];
  const changes = [...new Set([...Object.keys(newer ?? {}), ...Object.keys(older ?? {})])].flatMap((field) => {
    const [left, right] = [older?.[field], newer?.[field]];
    return isSame(left, right) ? [] : [{ field, before: shorten(left), after: shorten(right) }];
  });
  return changes.length > 0 || before.hashId === after.hashId ? changes : [{ field: "docker_login_pass" }];
}

/** Equality of JSON values, without regard to the order of members. */
function isSame(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function shorten(value: unknown): unknown {
  if (value === undefined) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length <= TEXT_SHOWN_MAX) return value;
  return `${text.slice(0, TEXT_SHOWN_MAX).toWellFormed()}…`;
}
