import type { PullProgress } from "./engine.ts";

const BYTES_PER_MB = 1e6;

/**
 * What a renter reads while an image comes, such as `pulling busybox: 12.3 of 40.1 MB, 8.2 MB/s`. It must not contain
 * a word that clients take for a failure (`semantics.md` §2.3).
 */
export function describePull(image: string, progress: PullProgress, elapsed_ms: number): string {
  if (progress.total_bytes === 0) return `pulling ${image}`;
  const received = (progress.received_bytes / BYTES_PER_MB).toFixed(1);
  const total = (progress.total_bytes / BYTES_PER_MB).toFixed(1);
  const perSecond = elapsed_ms <= 0 ? 0 : progress.received_bytes / BYTES_PER_MB / (elapsed_ms / 1000);
  return `pulling ${image}: ${received} of ${total} MB, ${perSecond.toFixed(1)} MB/s`;
}
