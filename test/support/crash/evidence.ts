// Evidence of the hosts of a rack without the server, read from the files in which their agents keep notes.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { readEngineRuns, type EngineRun } from "./lasting-engine.ts";

export const HOSTS_PER_RACK = 2;
/** The heartbeat lease: short, so that an absence of a minute loses a host, and longer than most starts of a server. */
export const LEASE_MS = 40_000;
/** The shortest lease: the server stores a sign of life of a host without rentals only once in a tenth of a lease. */
const LEASE_MS_MIN = LEASE_MS * 0.9;

export type Stretch = { readonly fromMs: number; readonly toMs: number };
/** Evidence of one host, without the server. */
export type EngineEvidence = {
  readonly runs: readonly EngineRun[];
  /** Times between two proofs to its agent that the server was there, where they may have been too long. */
  readonly absences: readonly Stretch[];
  /** The reports that the server has stored, each from its sending to its answer. */
  readonly reports: readonly Stretch[];
  /** The time of each of its reports, stored or not. */
  readonly sends: readonly number[];
  /** Times in which its agent was dead, or had no connection. */
  readonly outages: readonly Stretch[];
  /** Times at which the process of its agent showed that it did not stand still. */
  readonly pulses: readonly number[];
};

/** The folder in which the agents of a rack keep their files. */
export type RackFiles = { readonly stateDir: string };

/** The file names of one host, up to their ending. */
type Host = { readonly stateDir: string; readonly number: number };
type Link = { readonly at_ms: number; readonly is_up: boolean };
/** A proof that the server was there after a message was sent, as its agent knew later. */
type Proof = { readonly sent_at_ms: number; readonly noted_at_ms: number };

export function hostsOf({ stateDir }: RackFiles): readonly Host[] {
  return Array.from({ length: HOSTS_PER_RACK }, (_, index) => ({ stateDir, number: index + 1 }));
}

export function engineOf({ stateDir, number }: Host): string {
  return path.join(stateDir, `engine-${number}.json`);
}

export function linkOf({ stateDir, number }: Host): string {
  return path.join(stateDir, `link-${number}.jsonl`);
}

function proofsOf({ stateDir, number }: Host): string {
  return path.join(stateDir, `proofs-${number}.jsonl`);
}

function sendsOf({ stateDir, number }: Host): string {
  return path.join(stateDir, `sends-${number}.jsonl`);
}

function answersOf({ stateDir, number }: Host): string {
  return path.join(stateDir, `answers-${number}.jsonl`);
}

function readLink(host: Host): readonly Link[] {
  return readLines(linkOf(host));
}

function readLines<T>(file: string): readonly T[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line): T => JSON.parse(line));
}

export function isLinked(host: Host): boolean {
  return readLink(host).at(-1)?.is_up === true;
}

/** Times in which the agent of a host was dead, or had no connection. */
function outagesOf(link: readonly Link[]): readonly Stretch[] {
  const outages: Stretch[] = [];
  let fromMs: number | undefined;
  for (const { at_ms, is_up } of link) {
    if (!is_up) fromMs ??= at_ms;
    else if (fromMs !== undefined) {
      outages.push({ fromMs, toMs: at_ms });
      fromMs = undefined;
    }
  }
  return outages;
}

/**
 * Absences between two proofs. The server heard the host at some moment from the sending of a proof to its note, so the
 * longest possible absence goes from the first sending to the second note.
 */
function absencesOf(proofs: readonly Proof[], nowMs: number): readonly Stretch[] {
  const gaps = proofs.map(({ sent_at_ms }, index) => ({
    fromMs: sent_at_ms,
    toMs: proofs[index + 1]?.noted_at_ms ?? nowMs,
  }));
  return gaps.filter(({ fromMs, toMs }) => toMs - fromMs > LEASE_MS_MIN);
}

/** All runs of each engine of a rack, and the times in which its host was out of touch. */
export function evidenceOf({ stateDir }: RackFiles, nowMs: number): readonly EngineEvidence[] {
  const pulses = readLines<number>(path.join(stateDir, "pulses.jsonl"));
  return hostsOf({ stateDir }).map((host) => {
    const proofs = readLines<Proof>(proofsOf(host));
    return {
      runs: readEngineRuns(engineOf(host)),
      absences: absencesOf(proofs, nowMs),
      reports: readLines<Stretch>(answersOf(host)),
      sends: readLines<number>(sendsOf(host)),
      outages: outagesOf(readLink(host)),
      pulses,
    };
  });
}
