import { Type, type Static } from "typebox";

const Moment = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });

export const AuditQuery = Type.Object({
  full: Type.Optional(
    Type.String({ description: "Whether to read everything there ever was, and verify the seals (true or false)" }),
  ),
});

const Difference = Type.Object({
  subject: Type.String({ description: "The row that differs, such as `line 12`" }),
  problem: Type.String(),
  stored: Type.String(),
  expected: Type.String(),
});

const Check = Type.Object({
  name: Type.String(),
  title: Type.String({ description: "What has to be so" }),
  examined_count: Type.Integer({ description: "Rows that were looked at" }),
  difference_count: Type.Integer(),
  differences: Type.Array(Difference, { description: "The first fifty" }),
});

export const AuditResponse = Type.Object({
  success: Type.Literal(true),
  state: Type.Union([Type.Literal("finished"), Type.Literal("running")], {
    description: "Ask again while it is running: the same audit answers",
  }),
  is_sound: Type.Union([Type.Boolean(), Type.Null()], { description: "Nothing differs; null while it is running" }),
  is_full: Type.Boolean(),
  audited_at: Moment("When its snapshot was taken, or since when it is running: seconds since 1970"),
  sealed_until: Moment("What came before is sealed: seconds since 1970; null when nothing is"),
  checks: Type.Array(Check),
});
export type AuditResponse = Static<typeof AuditResponse>;

const Finding = Type.Object({
  kind: Type.String(),
  subject: Type.String(),
  outcome: Type.Union([Type.Literal("repaired"), Type.Literal("told"), Type.Literal("alarmed")]),
  details: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object", additionalProperties: true }),
  first_found_at: Type.Number(),
  last_found_at: Type.Number(),
  found_count: Type.Integer(),
});

export const ReconciliationResponse = Type.Object({
  success: Type.Literal(true),
  last_run_at: Moment("When ledger, leases and instances were last compared: seconds since 1970"),
  last_found: Type.Record(Type.String(), Type.Integer(), { description: "How much of each kind that run found" }),
  findings: Type.Array(Finding, { description: "The hundred newest" }),
});
export type ReconciliationResponse = Static<typeof ReconciliationResponse>;
