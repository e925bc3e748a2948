import type { DesiredInstance, DesiredVolume } from "../../../protocol/index.ts";

/** The orders of a desired set as a text: equal texts ask a host for the same. */
export function gistOf(
  desired: { readonly instances: readonly DesiredInstance[]; readonly volumes: readonly DesiredVolume[] } | undefined,
): string {
  const instances = (desired?.instances ?? []).map(({ instance_id, generation, run, notice }) => [
    instance_id,
    generation,
    run,
    notice?.reason,
  ]);
  const volumes = (desired?.volumes ?? []).map(({ volume_id, state }) => [volume_id, state]);
  return JSON.stringify([instances, volumes]);
}
