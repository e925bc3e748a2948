import type { Notes } from "../instances/notes.ts";

/** Length of a heartbeat lease until a server has named its own. */
const DEFAULT_LEASE_MS = 60_000;

/**
 * The right to run anything at all. It is counted from the moment at which something was *sent* that the server has
 * answered since: the server counts from the later arrival, so it never thinks a lease shorter than the agent does.
 */
export type Lease = { readonly grantedAtMs: number; readonly leaseMs: number };

export function isLive(lease: Lease, monotonicMs: number): boolean {
  return monotonicMs - lease.grantedAtMs < lease.leaseMs;
}

/** Proof that the server was there after `sentAtMs`. An older proof than the present one changes nothing. */
export function renew(lease: Lease, sentAtMs: number): Lease {
  return { ...lease, grantedAtMs: Math.max(lease.grantedAtMs, sentAtMs) };
}

/**
 * The lease an agent begins with. Within one boot of the machine the monotonic clock goes on, so a restarted agent
 * continues the lease it had: restarting again and again does not prolong it. After a boot nothing runs yet.
 */
export function firstLease(notes: Notes | undefined, bootId: string, monotonicMs: number): Lease {
  const leaseMs = notes?.lease.leaseMs ?? DEFAULT_LEASE_MS;
  if (!notes || notes.bootId !== bootId) return { grantedAtMs: monotonicMs, leaseMs };
  return { grantedAtMs: Math.min(notes.lease.grantedAtMs, monotonicMs), leaseMs };
}
