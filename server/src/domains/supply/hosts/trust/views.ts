import { epochSeconds } from "../../../../base/clock.ts";
import { RELIABILITY_FORMULA, WINDOW_DAYS } from "../presence/rules/reliability.ts";
import type { DecideResponse, ReliabilityResponse, VerificationResponse } from "./schema.ts";
import type { ReliabilityReport, VerificationReport } from "./service.ts";
import type { Candidate } from "./store.ts";

const PPM = 1e6;

export function viewReliability({
  machineId,
  isSimulated,
  days,
  terms,
  shownPpm,
}: ReliabilityReport): ReliabilityResponse {
  return {
    success: true,
    machine_id: machineId,
    is_simulated: isSimulated,
    reliability: terms.reliabilityPpm / PPM,
    shown_reliability: shownPpm / PPM,
    formula: RELIABILITY_FORMULA,
    window_days: WINDOW_DAYS,
    terms: {
      prior_ms: Number(terms.priorMs),
      online_ms: Number(terms.onlineMs),
      offline_ms: Number(terms.offlineMs),
      offline_rented_extra_ms: Number(terms.offlineRentedExtraMs),
      failed_starts_ms: Number(terms.failedStartsMs),
    },
    days: days.map((day) => ({
      day: day.day,
      online_ms: Number(day.onlineMs),
      offline_ms: Number(day.offlineMs),
      offline_rented_ms: Number(day.offlineRentedMs),
      maintenance_ms: Number(day.maintenanceMs),
      starts_succeeded: day.startsSucceeded,
      starts_failed: day.startsFailed,
    })),
  };
}

export function viewVerification({
  machine,
  checks,
  measuredUplink,
  restReason,
}: VerificationReport): VerificationResponse {
  const missing = checks.filter((check) => !check.isPassed);
  return {
    ...viewTrust(machine),
    msg: summarize(machine, missing.length),
    checks: checks.map(({ name, value, needed, isPassed, text }) => ({
      name,
      value,
      needed,
      passed: isPassed,
      msg: text,
    })),
    line: {
      inet_up: machine.facts.inetUpMbps,
      inet_down: machine.facts.inetDownMbps,
      measured_inet_up: measuredUplink?.upMbps ?? null,
      measured_inet_down: measuredUplink?.downMbps ?? null,
      measured_at: measuredUplink === undefined ? null : epochSeconds(measuredUplink.lastAt),
      measured_count: measuredUplink?.probeCount ?? 0,
    },
    rests_until: restReason === undefined || machine.restsUntil === undefined ? null : epochSeconds(machine.restsUntil),
    rest_reason: restReason ?? null,
  };
}

function summarize(machine: Candidate, missing: number): string {
  const { verification } = machine;
  switch (decidedBy(machine)) {
    case "administrator":
      return `An administrator has decided that this machine is ${verification}.`;
    case "operator":
      return "This machine is the operator's own, and verified as that.";
    case "rule":
      break;
  }
  const checks = missing === 1 ? "1 check is" : `${missing} checks are`;
  if (verification === "verified") {
    return missing === 0
      ? "This machine is verified."
      : `This machine is verified, but ${checks} close to taking that from it.`;
  }
  if (missing === 0) return "This machine has what it takes, and will be verified within ten minutes.";
  const state = verification === "deverified" ? "has lost its verification" : "is not verified";
  return `This machine ${state}: ${checks} not passed.`;
}

export function viewTrust(machine: Candidate): DecideResponse {
  return {
    success: true,
    machine_id: machine.id,
    verification: machine.verification,
    decided_by: decidedBy(machine),
    hosting_type: machine.hostingType,
  };
}

function decidedBy({ isFixed, isTrusted }: Candidate): DecideResponse["decided_by"] {
  if (isFixed) return "administrator";
  return isTrusted ? "operator" : "rule";
}
