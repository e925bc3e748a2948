import { Type } from "typebox";

/** Columns or rows of a terminal at most. */
export const SIDE_MAX = 1_000;

export const TerminalQuery = Type.Object(
  {
    cols: Type.Optional(Type.Integer({ minimum: 1, maximum: SIDE_MAX })),
    rows: Type.Optional(Type.Integer({ minimum: 1, maximum: SIDE_MAX })),
  },
  { additionalProperties: true },
);
