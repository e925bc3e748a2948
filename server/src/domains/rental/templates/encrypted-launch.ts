import type { Encryption } from "../../../base/encryption.ts";
import { commandOf, type LaunchSettings } from "./rules/launch.ts";

/** Settings in which renters put secrets: variables, scripts, arguments, and the login for a registry. */
type Private = Pick<LaunchSettings, "registry_auth" | "command" | "image_args" | "onstart" | "env" | "extra_env">;

/**
 * Launch settings as the database holds them. The private ones are one encrypted text, so that one step decrypts them.
 */
export type EncryptedLaunch = Omit<LaunchSettings, keyof Private> & {
  /** Missing in rows of versions that stored these settings in clear. */
  readonly sealed?: string;
};

/** The row that the settings belong to. A text encrypted for one row decrypts for no other. */
type LaunchPlace = { readonly kind: "instance" | "standing request"; readonly id: number };

/** The settings as they may be stored in this row. */
export function encryptLaunch(launch: LaunchSettings, place: LaunchPlace, encryption: Encryption): EncryptedLaunch {
  const { registry_auth, command, image_args, onstart, env, extra_env, ...open } = launch;
  const hidden: Private = { registry_auth, command, image_args, onstart, env, extra_env };
  return { ...open, sealed: encryption.encrypt(JSON.stringify(hidden), contextOf(place)) };
}

/** The whole settings; undefined when they were encrypted under a secret that the server no longer has. */
export function decryptLaunch(
  stored: EncryptedLaunch,
  place: LaunchPlace,
  encryption: Encryption,
): LaunchSettings | undefined {
  const { sealed, ...open } = stored;
  if (sealed === undefined) return openEarlier(stored, place, encryption);
  const text = encryption.decrypt(sealed, contextOf(place));
  // Only `encryptLaunch` could have written it, so it has that shape.
  return text === undefined ? undefined : { ...open, ...(JSON.parse(text) as Private) };
}

/** The settings, whole or without the private ones when they no longer decrypt. */
export function decryptLaunchIfPossible(
  stored: EncryptedLaunch,
  place: LaunchPlace,
  encryption: Encryption,
): LaunchSettings {
  const { sealed: _, ...open } = stored;
  return decryptLaunch(stored, place, encryption) ?? { ...open, ...nothingPrivate(open) };
}

/**
 * Rows of older versions hold all settings in clear, except for the password of a registry, which was encrypted alone.
 */
function openEarlier(stored: EncryptedLaunch, place: LaunchPlace, encryption: Encryption): LaunchSettings {
  const launch = stored as LaunchSettings;
  const { registry_auth: login } = launch;
  if (login === null) return launch;
  const password = encryption.decrypt(login.password, `${place.kind} registry password ${place.id}`);
  // A pull without the login fails with the registry's own message, and only when the registry asks for a login.
  return { ...launch, registry_auth: password === undefined ? null : { ...login, password } };
}

function nothingPrivate({ runtype, jupyter }: Pick<LaunchSettings, "runtype" | "jupyter">): Private {
  const command = commandOf(runtype, null, [], jupyter);
  return { registry_auth: null, command, image_args: [], onstart: null, env: [], extra_env: [] };
}

function contextOf({ kind, id }: LaunchPlace): string {
  return `${kind} launch ${id}`;
}
