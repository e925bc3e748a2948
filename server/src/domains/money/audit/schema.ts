import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";

const Moment = Type.Union([Type.Number(), Type.Null()]);

export const AuditQuery = Type.Object({
  full: Type.Optional(Type.String()),
  against: Type.Optional(
    Type.String({
      pattern: "^[0-9]{1,15}:[0-9a-f]{64}$",
    }),
  ),
});

export const AuditFactsQuery = Type.Object({
  after: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
});
export const AuditFactsResponse = Type.Object({
  success: Type.Literal(true),
  public_key: Type.String(),
  head: model("FactHead", {
    number: Type.Integer(),
    sha256: Type.String(),
  }),
  links: Type.Array(
    model("FactLink", {
      number: Type.Integer(),
      made_at: Type.String(),
      facts: Type.Array(Type.String({ description: "One line of JSON, as it was hashed" })),
      sha256: Type.String(),
      signature: Type.String(),
    }),
  ),
});
export type AuditFactsResponse = Static<typeof AuditFactsResponse>;

const Difference = model("AuditDifference", {
  subject: Type.String(),
  problem: Type.String(),
  stored: Type.String(),
  expected: Type.String(),
});

const Check = model("AuditCheck", {
  name: Type.String(),
  title: Type.String(),
  examined_count: Type.Integer({ description: "Number of rows that were checked" }),
  difference_count: Type.Integer(),
  differences: Type.Array(Difference),
});

export const AuditResponse = Type.Object({
  success: Type.Literal(true),
  state: Type.Union([Type.Literal("finished"), Type.Literal("running")]),
  is_sound: Type.Union([Type.Boolean(), Type.Null()]),
  is_full: Type.Boolean(),
  audited_at: Moment,
  sealed_until: Moment,
  checks: Type.Array(Check),
});
export type AuditResponse = Static<typeof AuditResponse>;

const Finding = model("AuditFinding", {
  kind: Type.String(),
  subject: Type.String(),
  outcome: Type.Union([Type.Literal("repaired"), Type.Literal("told"), Type.Literal("alarmed")]),
  advice: Type.String({
    description: "The next step of an administrator, in a sentence or two",
    examples: ["Nothing: a rule has repaired it."],
  }),
  details: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object", additionalProperties: true }),
  first_found_at: Type.Number(),
  last_found_at: Type.Number(),
  found_count: Type.Integer(),
});

export const ReconciliationResponse = Type.Object({
  success: Type.Literal(true),
  last_run_at: Moment,
  last_found: Type.Record(Type.String(), Type.Integer()),
  findings: Type.Array(Finding),
});
export type ReconciliationResponse = Static<typeof ReconciliationResponse>;
