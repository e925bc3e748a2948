import { createHmac } from "node:crypto";
import type { LaunchCommand } from "../../../../../../../protocol/index.ts";
import type { OpenedInstance } from "../encrypted-settings.ts";

export type Variables = readonly (readonly [string, string])[];

/**
 * Variables that every container gets (docs/contract-rules.md#variables-of-a-container), except those that only its
 * host can know. They come last and win: a renter's variable of the same name would mislead the renter's own programs.
 */
export function platformEnv(
  instance: Pick<OpenedInstance, "id"> & { readonly launch: Pick<OpenedInstance["launch"], "env"> },
  instanceApiKey: string,
  command: LaunchCommand,
  publicKeys: readonly string[],
): Variables {
  const label = `C.${instance.id}`;
  const jupyter = command.mode === "shell" ? command.jupyter : null;
  return [
    ["CONTAINER_ID", String(instance.id)],
    ["CONTAINER_API_KEY", instanceApiKey],
    ["VAST_CONTAINERLABEL", label],
    ["CONTAINER_LABEL", label],
    // Left out without a key, because images that bring their own access take an empty variable for a key.
    ...(publicKeys.length === 0 ? [] : [["SSH_PUBLIC_KEY", publicKeys.join("\n")] as const]),
    ...(isWorker(instance) ? [["MASTER_TOKEN", workerTokenOf(instanceApiKey)] as const] : []),
    // Ports are assigned one by one, never as a range, as in the instance's record.
    ["DIRECT_PORT_START", "-1"],
    ["DIRECT_PORT_END", "-1"],
    // The token already follows a `JUPYTER_TOKEN` of the renter.
    ...(jupyter === null ? [] : [["JUPYTER_TOKEN", jupyter.token] as const]),
  ];
}

/** Marks an instance as one of a group of workers. On any other instance the token that it brings opens nothing. */
export const WORKER_GROUP_VARIABLE = "WORKERGROUP_ID";

function isWorker({ launch }: { readonly launch: Pick<OpenedInstance["launch"], "env"> }): boolean {
  return launch.env.some(([name]) => name === WORKER_GROUP_VARIABLE);
}

/**
 * The token with which a worker signs its reports. It follows from the key of its instance, so it is not stored either.
 */
export function workerTokenOf(instanceApiKey: string): string {
  return `berth_worker_${createHmac("sha256", instanceApiKey).update("worker").digest("base64url")}`;
}

/** All variables of these layers; of equal names the last one counts. */
export function mergeEnv(...layers: readonly Variables[]): Variables {
  const merged = new Map<string, string>();
  for (const [name, value] of layers.flat()) {
    merged.delete(name);
    merged.set(name, value);
  }
  return [...merged];
}

/** Variables that a renter may set to something else. */
export function defaultEnv(token: string, command: LaunchCommand): Variables {
  const jupyter = command.mode === "shell" ? command.jupyter : null;
  return [
    ["DATA_DIRECTORY", "/workspace/"],
    ["OPEN_BUTTON_TOKEN", token],
    ...(jupyter === null ? [] : [["JUPYTER_SERVER_URL", "https://0.0.0.0:8080/"] as const]),
    // Without a directory it is the image's, which only the container knows: its platform script sets the variable
    // then.
    ...(jupyter?.directory ? [["JUPYTER_SERVER_ROOT", jupyter.directory] as const] : []),
  ];
}
