import type { Notes } from "../instances/notes.ts";

/** Until a server has said how long its leases are. */
const DEFAULT_LEASE_MS = 60_000;

/**
 * The right to run anything at all. It is counted from the moment at which something was *sent* that the server has
 * answered since: the server counts from the later arrival, so it never thinks a lease shorter than the agent does.
 */
export type Lease = { readonly granted_at_ms: number; readonly lease_ms: number };

export function isLive(lease: Lease, monotonic_ms: number): boolean {
  return monotonic_ms - lease.granted_at_ms < lease.lease_ms;
}

/** Proof that the server was there after `sent_at_ms`. An older proof than the present one changes nothing. */
export function renew(lease: Lease, sent_at_ms: number): Lease {
  return { ...lease, granted_at_ms: Math.max(lease.granted_at_ms, sent_at_ms) };
}

/**
 * The lease an agent begins with. Within one boot of the machine the monotonic clock goes on, so a restarted agent
 * continues the lease it had: restarting again and again does not prolong it. After a boot nothing runs yet.
 */
export function firstLease(notes: Notes | undefined, boot_id: string, monotonic_ms: number): Lease {
  const lease_ms = notes?.lease.lease_ms ?? DEFAULT_LEASE_MS;
  if (!notes || notes.boot_id !== boot_id) return { granted_at_ms: monotonic_ms, lease_ms };
  return { granted_at_ms: Math.min(notes.lease.granted_at_ms, monotonic_ms), lease_ms };
}
