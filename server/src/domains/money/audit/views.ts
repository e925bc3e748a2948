import type { FactHead, FactLink } from "../../../base/facts.ts";
import { epochSeconds } from "../../../base/clock.ts";
import type { AuditAnswer } from "./audit-desk.ts";
import type { CheckResult } from "./rules/difference.ts";
import { adviceFor } from "./findings/rules/advice.ts";
import type { LastRun, StoredFinding } from "./findings/finding-store.ts";
import type { AuditFactsResponse, AuditResponse, ReconciliationResponse } from "./schema.ts";

export function viewAudit(answer: AuditAnswer, isFull: boolean): AuditResponse {
  if (answer.kind === "running") {
    return {
      success: true,
      state: "running",
      is_sound: null,
      is_full: isFull,
      audited_at: epochSeconds(answer.startedAt),
      sealed_until: null,
      checks: [],
    };
  }
  const { isSound, at, checkpointUntil, checks } = answer.report;
  return {
    success: true,
    state: "finished",
    is_sound: isSound,
    is_full: isFull,
    audited_at: epochSeconds(at),
    sealed_until: checkpointUntil === undefined ? null : epochSeconds(checkpointUntil),
    checks: checks.map(viewCheck),
  };
}

function viewCheck({ name, title, examinedCount, differenceCount, differences }: CheckResult) {
  return {
    name,
    title,
    examined_count: examinedCount,
    difference_count: differenceCount,
    differences: differences.map(({ subject, problem, stored, expected }) => ({ subject, problem, stored, expected })),
  };
}

export function viewFacts(head: FactHead, links: readonly FactLink[], publicKey: string): AuditFactsResponse {
  return {
    success: true,
    public_key: publicKey,
    head: { number: Number(head.number), sha256: head.sha256 },
    links: links.map(({ number, madeAt, texts, sha256, signature }) => ({
      number: Number(number),
      made_at: madeAt.toISOString(),
      facts: [...texts],
      sha256,
      signature,
    })),
  };
}

export function viewReconciliation(lastRun: LastRun, findings: readonly StoredFinding[]): ReconciliationResponse {
  return {
    success: true,
    last_run_at: lastRun.at === undefined ? null : epochSeconds(lastRun.at),
    last_found: { ...lastRun.counts },
    findings: findings.map((finding) => ({
      kind: finding.kind,
      subject: finding.subject,
      outcome: finding.outcome,
      advice: adviceFor(finding),
      details: finding.details,
      first_found_at: epochSeconds(finding.firstFoundAt),
      last_found_at: epochSeconds(finding.lastFoundAt),
      found_count: finding.foundCount,
    })),
  };
}
