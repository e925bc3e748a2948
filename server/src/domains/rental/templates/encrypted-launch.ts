import type { Sealer } from "../../../base/seal.ts";
import { commandOf, type LaunchSettings } from "./rules/launch.ts";

/** Settings in which renters put secrets: variables, scripts, arguments, and the login for a registry. */
type Private = Pick<LaunchSettings, "registry_auth" | "command" | "image_args" | "onstart" | "env" | "extra_env">;

/** Launch settings as the database holds them: the private ones are one sealed text, so that opening costs one step. */
export type SealedLaunch = Omit<LaunchSettings, keyof Private> & {
  /** Missing in rows from before these settings were sealed, which hold them in clear. */
  readonly sealed?: string;
};

/** The row that the settings belong to. A seal opens for its own row alone. */
type LaunchPlace = { readonly kind: "instance" | "standing request"; readonly id: number };

/** The settings as they may be stored in this place. */
export function sealLaunch(launch: LaunchSettings, place: LaunchPlace, sealer: Sealer): SealedLaunch {
  const { registry_auth, command, image_args, onstart, env, extra_env, ...open } = launch;
  const hidden: Private = { registry_auth, command, image_args, onstart, env, extra_env };
  return { ...open, sealed: sealer.seal(JSON.stringify(hidden), contextOf(place)) };
}

/** The whole settings; undefined when they were sealed under a secret that the server no longer has. */
export function openLaunch(stored: SealedLaunch, place: LaunchPlace, sealer: Sealer): LaunchSettings | undefined {
  const { sealed, ...open } = stored;
  if (sealed === undefined) return openEarlier(stored, place, sealer);
  const text = sealer.open(sealed, contextOf(place));
  // Nobody else could have sealed it, so it has the shape that `sealLaunch` gave it.
  return text === undefined ? undefined : { ...open, ...(JSON.parse(text) as Private) };
}

/** The whole settings, without the private ones when those no longer open. */
export function openLaunchIfPossible(stored: SealedLaunch, place: LaunchPlace, sealer: Sealer): LaunchSettings {
  const { sealed: _, ...open } = stored;
  return openLaunch(stored, place, sealer) ?? { ...open, ...nothingPrivate(open) };
}

/** Rows from before hold all settings in clear, except for the password of a registry, which had a seal of its own. */
function openEarlier(stored: SealedLaunch, place: LaunchPlace, sealer: Sealer): LaunchSettings {
  const launch = stored as LaunchSettings;
  const { registry_auth: login } = launch;
  if (login === null) return launch;
  const password = sealer.open(login.password, `${place.kind} registry password ${place.id}`);
  // A pull without it fails with the registry's own words, and only where the registry asks for a login.
  return { ...launch, registry_auth: password === undefined ? null : { ...login, password } };
}

function nothingPrivate({ runtype, jupyter }: Pick<LaunchSettings, "runtype" | "jupyter">): Private {
  const command = commandOf(runtype, null, [], jupyter);
  return { registry_auth: null, command, image_args: [], onstart: null, env: [], extra_env: [] };
}

function contextOf({ kind, id }: LaunchPlace): string {
  return `${kind} launch ${id}`;
}
