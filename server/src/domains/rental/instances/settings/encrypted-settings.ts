import type { Sealer } from "../../../../base/seal.ts";
import {
  decryptLaunchIfPossible,
  encryptLaunch,
  type LaunchSettings,
  type EncryptedLaunch,
} from "../../templates/index.ts";
import type { Instance } from "../instance.ts";

/** An instance with the decrypted settings of its container, for its host and its owner. */
export type OpenedInstance = Omit<Instance, "launch"> & { readonly launch: LaunchSettings };

/** The settings as they may be stored with this instance. */
export function encryptSettings(launch: LaunchSettings, id: Instance["id"], sealer: Sealer): EncryptedLaunch {
  return encryptLaunch(launch, { kind: "instance", id }, sealer);
}

/** The settings in clear. Private ones that no longer decrypt are left out, as the account's variables are. */
export function decryptSettings({ id, launch }: Pick<Instance, "id" | "launch">, sealer: Sealer): LaunchSettings {
  return decryptLaunchIfPossible(launch, { kind: "instance", id }, sealer);
}

export function openInstance(instance: Instance, sealer: Sealer): OpenedInstance {
  return { ...instance, launch: decryptSettings(instance, sealer) };
}
