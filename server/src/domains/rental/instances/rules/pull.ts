import type { Instance } from "../instance.ts";

/** How far the pull of an instance's image has come, and when it will be done at the speed so far; null when unknown. */
export function viewPull({ observed, generation }: Pick<Instance, "observed" | "generation">) {
  const pull = observed?.generation === generation && observed.state === "pulling" ? observed.pull : undefined;
  if (pull === undefined) return null;
  const { done_bytes: doneBytes, total_bytes: totalBytes, bytes_per_second: speed } = pull;
  const leftBytes = Math.max(0, totalBytes - doneBytes);
  return {
    done_bytes: Math.min(doneBytes, totalBytes),
    total_bytes: totalBytes,
    bytes_per_second: speed,
    eta_seconds: speed === 0 ? null : Math.ceil(leftBytes / speed),
  };
}
