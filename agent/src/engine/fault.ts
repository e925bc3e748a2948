import type { EngineFailure, Failed, Fault } from "./engine.ts";

/**
 * Words of the engine about users, programs and settings that work on no host. They are tried first, since names that a
 * renter chose may hold the other words.
 */
const IMAGE_WORDS: readonly RegExp[] = [
  /\bunable to find (?:user|group) /,
  /\bno command specified\b/i,
  /: exec: "/,
  /\bexec format error\b/,
  /\bcontainer init was OOM-killed\b/,
  /\bminimum memory limit allowed\b/i,
  /\bchdir to cwd\b|\bcannot mkdir: .* is not a directory\b/i,
  /\bare you trying to mount a directory onto a file\b/i,
  /\bsethostname: invalid argument\b/,
  /\bnvidia-container-cli: requirement error: unsatisfied condition\b/,
  /\binvalid (?:reference format|mount path|hostname|environment variable|volume specification)\b/i,
];

/** Words of failures of images that were built for another kind of machine. */
const MANIFEST_WORDS =
  /\binvalid reference format\b|\bno matching manifest for\b|\bmanifest (?:unknown|invalid)\b|\bunsupported (?:manifest )?media ?type\b|\bimage operating system .* cannot be used\b/i;

/** Quoted text is what a renter chose: programs, paths, names. */
const QUOTED = /"(?:[^"\\]|\\.)*"/g;

/** Words of the engine when it lacks something that every start here needs. */
const HOST_WORDS: readonly RegExp[] = [
  /\bcould not select device driver\b/,
  /\bnvidia-container-cli: (?:initialization|device|detection|ldcache) error\b/,
  /\bunknown (?:or invalid )?runtime (?:name|specified)\b/i,
  /\bfailed to create NAT chain\b|\biptables failed\b|\bnetwork \S+ not found\b/i,
  /\bfailed to (?:create endpoint|set up container networking)\b/,
  /\bfailed to mount local volume\b|\bbind source path does not exist\b/,
  /\bfailed to start shim\b|\bcontainerd\.sock\b/,
];
const FULL = /\bno space left on device\b/;
/** Paths on the renter's own disk: a full disk there was filled by the renter. */
const RENTERS_DISK = /\/merged\b|\brootfs\b/;
/** Words of a port that is taken: another attempt takes another port. */
const PORT_WORDS = /\b(?:port is already allocated|address already in use)\b/;

/**
 * The fault of a container that could not be made or started: of the host or the image; undefined where it could be
 * either. When in doubt nobody is blamed, so that no renter takes a host off the market by the names that they choose.
 */
export function faultOf(failure: EngineFailure): Fault | undefined {
  if (failure.fault !== undefined) return failure.fault;
  if (failure.kind === "unreachable") return "host";
  if (failure.kind !== "refused" && failure.kind !== "not_found") return undefined;
  const { message } = failure;
  if (PORT_WORDS.test(message)) return undefined;
  if (IMAGE_WORDS.some((words) => words.test(message))) return "image";
  const own = message.replace(QUOTED, '""');
  if (FULL.test(own)) return RENTERS_DISK.test(own) ? undefined : "host";
  return HOST_WORDS.some((words) => words.test(own)) ? "host" : undefined;
}

/**
 * The fault of a failed pull. A registry may be the renter's own and answer anything, so the host is to blame only for
 * the facts that it knows itself: that its engine is down, or its disk full.
 */
export async function faultOfPull(
  { kind, message }: EngineFailure,
  isDiskLow: () => Promise<boolean>,
): Promise<Fault | undefined> {
  if (kind === "unreachable") return "host";
  if (kind === "denied" || kind === "not_found") return "image";
  if (FULL.test(message) && (await isDiskLow())) return "host";
  return MANIFEST_WORDS.test(message) ? "image" : undefined;
}

/** Adds the fault to a failed step of making or starting a container. */
export function blame(failed: Failed): Failed {
  const fault = faultOf(failed.failure);
  return fault === undefined ? failed : { ok: false, failure: { ...failed.failure, fault } };
}

export function blameHost({ failure }: Failed): Failed {
  return failure.kind === "cancelled" ? { ok: false, failure } : { ok: false, failure: { ...failure, fault: "host" } };
}
