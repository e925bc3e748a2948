import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";

const Moment = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });

export const AuditQuery = Type.Object({
  full: Type.Optional(
    Type.String({ description: "Whether to read everything there ever was, and verify the seals (true or false)" }),
  ),
  against: Type.Optional(
    Type.String({
      pattern: "^[0-9]{1,15}:[0-9a-f]{64}$",
      description: "Number and hash of a link that was exported earlier: the chain of facts must go on from it",
    }),
  ),
});

export const AuditFactsQuery = Type.Object({
  after: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Only links after this number" }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
});
export const AuditFactsResponse = Type.Object({
  success: Type.Literal(true),
  public_key: Type.String({ description: "Ed25519, base64url: what signatures are checked by" }),
  head: model("FactHead", {
    number: Type.Integer({ description: "Of the last link; 0 when there is none" }),
    sha256: Type.String(),
  }),
  links: Type.Array(
    model("FactLink", {
      number: Type.Integer(),
      made_at: Type.String({ description: "As it was hashed" }),
      facts: Type.Array(Type.String({ description: "One line of JSON, as it was hashed" })),
      sha256: Type.String({ description: "Over the hash before, number and time, and the facts (docs/audit.md)" }),
      signature: Type.String({ description: "Of `berth facts 1 <number> <sha256>`" }),
    }),
  ),
});
export type AuditFactsResponse = Static<typeof AuditFactsResponse>;

const Difference = model("AuditDifference", {
  subject: Type.String({ description: "The row that differs, such as `line 12`" }),
  problem: Type.String(),
  stored: Type.String(),
  expected: Type.String(),
});

const Check = model("AuditCheck", {
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

const Finding = model("AuditFinding", {
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
