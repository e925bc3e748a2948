/** Which templates the gallery shows. */
export const SHOWN = ["all", "shipped", "own", "public", "recent"] as const;
export type Shown = (typeof SHOWN)[number];
