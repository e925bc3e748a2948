import type { Instance } from "./instance.ts";

/**
 * Variables that every container gets (semantics.md §7.3), before those that only its host can know. They come last and
 * win: a renter's variable of the same name would make the platform lie to the renter's own programs.
 */
export function platformEnv(
  instance: Pick<Instance, "id">,
  instanceApiKey: string,
): readonly (readonly [string, string])[] {
  const label = `C.${instance.id}`;
  return [
    ["CONTAINER_ID", String(instance.id)],
    ["CONTAINER_API_KEY", instanceApiKey],
    ["VAST_CONTAINERLABEL", label],
    ["CONTAINER_LABEL", label],
  ];
}
