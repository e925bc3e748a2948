import { invalid } from "../../../../base/errors.ts";
import { isGiven, type Fields } from "./fields.ts";
import { parseImageReference, registryOf } from "./image-reference.ts";
import { resolveLaunch, type LaunchSettings, type LaunchTemplate } from "./launch.ts";
import { mergeOptions, parseOptions, toExtraEnv } from "./option-string.ts";

/** The fields that a request may change of an existing instance. */
const CHANGEABLE = ["image", "args", "env", "onstart"] as const;

/**
 * The settings of an instance after a change: its present ones, or those of another template, with the changes of the
 * request merged in as at a creation. Disk and label stay, and so do the volumes, which are attached at creation.
 */
export function resolveRelaunch(
  current: LaunchSettings,
  template: LaunchTemplate | undefined,
  request: Fields,
): LaunchSettings {
  const given = CHANGEABLE.filter((field) => isGiven(request, field));
  const changes = Object.fromEntries(given.map((field) => [field, request[field]]));
  const settings =
    template === undefined ? changeOf(current, changes) : resolveLaunch(template, { ...changes, user: current.user });
  refuseNewVolumes(current, settings);
  return { ...settings, disk_gb: current.disk_gb, label: current.label };
}

/** The present settings in the form of a request, overridden by the real request. */
function changeOf(current: LaunchSettings, changes: Fields): LaunchSettings {
  const options = new Set(current.extra_env.map(([name]) => name));
  const added = new Set(current.env.flatMap(([name]) => (options.has(name) ? [] : [name])));
  const entries = mergeOptions(
    parseOptions(Object.fromEntries(current.extra_env), "env"),
    parseOptions(changes["env"], "env"),
    "env",
  );
  const settings = resolveLaunch(undefined, {
    image: current.image,
    runtype: current.image_runtype,
    args: [...current.image_args],
    onstart: current.onstart,
    user: current.user,
    jupyter_dir: current.jupyter?.directory,
    use_jupyter_lab: current.jupyter?.is_lab ?? false,
    python_utf8: added.has("PYTHONUTF8"),
    lang_utf8: added.has("LANG") || added.has("LC_ALL"),
    extra_filters: current.extra_filters,
    ...changes,
    env: Object.fromEntries(toExtraEnv(entries)),
  });
  return { ...settings, registry_auth: authOf(current, settings.image) };
}

/** The credentials for another image: kept when it is in the same registry, dropped otherwise. */
function authOf({ registry_auth: auth }: LaunchSettings, image: string): LaunchSettings["registry_auth"] {
  return auth?.serveraddress === registryOf(parseImageReference(image, "image")) ? auth : null;
}

function refuseNewVolumes(current: LaunchSettings, { volume_links: links }: LaunchSettings): void {
  const known = new Set(current.volume_links.map(({ volume, mount_path: path }) => `${volume} ${path}`));
  const added = links.find(({ volume, mount_path: path }) => !known.has(`${volume} ${path}`));
  if (added === undefined) return;
  throw invalid("env", `env: volume ${added.volume} cannot be attached now: volumes are attached at the creation.`);
}
