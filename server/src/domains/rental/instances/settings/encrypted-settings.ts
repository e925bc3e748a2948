import type { Encryption } from "../../../../base/encryption.ts";
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
export function encryptSettings(launch: LaunchSettings, id: Instance["id"], encryption: Encryption): EncryptedLaunch {
  return encryptLaunch(launch, { kind: "instance", id }, encryption);
}

/** The settings in clear. Private ones that no longer decrypt are left out, as the account's variables are. */
export function decryptSettings(
  { id, launch }: Pick<Instance, "id" | "launch">,
  encryption: Encryption,
): LaunchSettings {
  return decryptLaunchIfPossible(launch, { kind: "instance", id }, encryption);
}

export function openInstance(instance: Instance, encryption: Encryption): OpenedInstance {
  return { ...instance, launch: decryptSettings(instance, encryption) };
}
