/** Rows of one kind in a copy of what is known of a person. */
export type PersonalRows = readonly Readonly<Record<string, unknown>>[];
/** Rows by their kind. */
export type PersonalData = Readonly<Record<string, PersonalRows>>;

/** Rows of one kind that a copy has at most: the newest. */
export const PERSONAL_ROWS_MAX = 10_000;
