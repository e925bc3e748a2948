import type { LaunchCommand, PortRequest } from "../../../../../../protocol/index.ts";
import { invalid } from "../../../../base/errors.ts";
import { COMMAND_LENGTH_MAX, DEFAULT_DISK_GB, DISK_GB_MAX, type TemplateContent } from "./content.ts";
import { mergeExtraFilters, readExtraFilters, type ExtraFilters } from "./extra-filters.ts";
import { checkText, isGiven, readBoolean, readNumber, readText, type Fields } from "./fields.ts";
import {
  DEFAULT_TAG,
  IMAGE_LENGTH_MAX,
  authFor,
  parseImageLogin,
  parseImageReference,
  registryOf,
  renderImageReference,
  type ImageReference,
  type RegistryAuth,
} from "./image-reference.ts";
import { mergeOptions, parseOptions, parseOptionString, toExtraEnv, type OptionEntry } from "./option-string.ts";
import { deriveRuntype, parseRuntype, renderRuntype, type Runtype } from "./runtype.ts";
import { splitShellWords } from "./shell-words.ts";

/**
 * The fields of a template that a launch needs. The password is empty when there is none or the renter may not use it.
 */
export type LaunchTemplate = { readonly content: TemplateContent; readonly docker_login_pass: string };

/** The settings that a new instance starts with, from template, request and defaults. */
export type LaunchSettings = {
  readonly image: string;
  readonly registry_auth: RegistryAuth | null;
  readonly runtype: Runtype;
  /** The text of the launch mode in the instance's record. */
  readonly image_runtype: string;
  readonly command: LaunchCommand;
  readonly image_args: readonly string[];
  readonly onstart: string | null;
  /** Variables of the container, before those that the platform sets. */
  readonly env: readonly (readonly [string, string])[];
  /** All options in the form of the instance's record, in order. */
  readonly extra_env: readonly (readonly [string, string])[];
  readonly ports: readonly PortRequest[];
  readonly hostname: string | null;
  /** Names of overlay networks to join. */
  readonly networks: readonly string[];
  /** The renter's own volumes, by id or name, from `-v V.<volume>:<path>`. One per path. */
  readonly volume_links: readonly { readonly volume: string; readonly mount_path: string }[];
  readonly disk_gb: number;
  readonly label: string | null;
  readonly jupyter: { readonly directory: string | null; readonly is_lab: boolean } | null;
  /** The user that the container's processes run as; null is the image's. */
  readonly user: string | null;
  readonly extra_filters: ExtraFilters;
};

const LABEL_LENGTH_MAX = 256;
const JUPYTER_DIR_LENGTH_MAX = 1024;
const USER = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})?$/;
const SSH_PORT: PortRequest = { container_port: 22, protocol: "tcp" };
const JUPYTER_PORT: PortRequest = { container_port: 8080, protocol: "tcp" };

/**
 * Merges a template with the body of a creation request (docs/templates.md#with-a-rental): a scalar of the request
 * replaces the template's, options are merged by name, filters by field, and the template's `volume_info` is ignored.
 * Refuses each wrong member of the body by its name. Members that are not about the launch, such as `price` and
 * `volume_info`, are left to the caller.
 */
export function resolveLaunch(template: LaunchTemplate | undefined, request: Fields): LaunchSettings {
  if (isGiven(request, "template_id")) {
    throw invalid("template_id", "template_id is not accepted here; use template_hash_id");
  }
  refuseVirtualMachine(request);
  const content = template?.content;
  const args = readArguments(request);
  const runtype = resolveRuntype(content, request, args !== undefined);
  const { reference, image } = resolveImage(content, request);
  const onstart = (readText(request, "onstart", COMMAND_LENGTH_MAX) ?? content?.onstart) || null;
  const imageArgs =
    runtype.mode === "args" ? (args?.words ?? splitShellWords(content?.args_str ?? "", "args_str")) : [];
  const commandLength = (onstart?.length ?? 0) + (args?.length ?? content?.args_str.length ?? 0);
  if (commandLength > COMMAND_LENGTH_MAX) {
    throw invalid("onstart", `onstart and arguments together are longer than ${COMMAND_LENGTH_MAX} characters`);
  }
  const entries = mergeOptions(
    parseOptionString(content?.env ?? "", "env"),
    parseOptions(request["env"], "env"),
    "env",
  ).map((entry) => withoutJupyterPortal(entry, runtype));
  const jupyter = runtype.mode === "jupyter" ? resolveJupyter(content, request) : null;
  return {
    image,
    registry_auth: resolveAuth(template, request, reference),
    runtype,
    image_runtype: renderRuntype(runtype),
    command: commandOf(runtype, onstart, imageArgs, jupyter),
    image_args: imageArgs,
    onstart,
    env: variablesOf(entries, request),
    extra_env: toExtraEnv(entries),
    ports: portsOf(entries, runtype),
    hostname: entries.find((entry) => entry.kind === "hostname")?.hostname ?? null,
    networks: entries.flatMap((entry) => (entry.kind === "network" ? [entry.network] : [])),
    volume_links: volumeLinksOf(entries),
    disk_gb: resolveDisk(content, request),
    label: readText(request, "label", LABEL_LENGTH_MAX) || null,
    jupyter,
    user: readUser(request),
    extra_filters: mergeExtraFilters(content?.extra_filters ?? {}, readExtraFilters(request, "extra_filters") ?? {}),
  };
}

/** Clients always send an explicit false, which asks for a container. */
function refuseVirtualMachine(request: Fields): void {
  if (readBoolean(request, "vm") !== true) return;
  throw invalid("vm", "vm must be false: instances are containers, and there are no virtual machines yet");
}

function resolveRuntype(content: TemplateContent | undefined, request: Fields, hasArguments: boolean): Runtype {
  const text = readText(request, "runtype", 256);
  if (text !== undefined && text.trim() !== "") return parseRuntype(text, "runtype", content);
  if (content !== undefined) return deriveRuntype(content);
  return parseRuntype(hasArguments ? "args" : "ssh", "runtype", undefined);
}

/** True for the published images of virtual machines, which no container can run. */
function isVirtualMachine(reference: ImageReference): boolean {
  return registryOf(reference) === "docker.io" && reference.repository === "vastai/kvm";
}

/** The template's tag belongs to the template's image: it is not used when the request names another image. */
function resolveImage(content: TemplateContent | undefined, request: Fields) {
  const text = readText(request, "image", IMAGE_LENGTH_MAX)?.trim() || undefined;
  const own = content === undefined ? undefined : parseImageReference(content.image, "image");
  const reference = text === undefined ? own : parseImageReference(text, "image");
  if (reference === undefined) throw invalid("image", "image is required unless a template supplies it");
  if (isVirtualMachine(reference)) {
    throw invalid(
      "image",
      `image ${reference.repository} is for virtual machines, which do not exist yet: name a container`,
    );
  }
  const isSameImage = reference.registry === own?.registry && reference.repository === own?.repository;
  const defaultTag = isSameImage ? content?.tag : undefined;
  return { reference, image: renderImageReference(reference, defaultTag ?? DEFAULT_TAG) };
}

function resolveAuth(
  template: LaunchTemplate | undefined,
  request: Fields,
  reference: ImageReference,
): RegistryAuth | null {
  const given = readText(request, "image_login", IMAGE_LENGTH_MAX * 4)?.trim();
  if (given !== undefined && given !== "") return authFor(reference, parseImageLogin(given, "image_login"));
  if (template === undefined || template.docker_login_pass === "") return null;
  const { docker_login_user: username, docker_login_repo: repo, image } = template.content;
  if (username === "") return null;
  // Without a stated registry the template's credentials are for the registry of the template's own image.
  const registry = repo !== "" ? repo : (parseImageReference(image, "image").registry ?? "docker.io");
  return authFor(reference, { username, password: template.docker_login_pass, registry });
}

type Arguments = { readonly words: readonly string[]; readonly length: number };

/** `args` as a list or one string, else `args_str`. Undefined when neither is given; an empty list counts as given. */
function readArguments(request: Fields): Arguments | undefined {
  const list = request["args"];
  if (Array.isArray(list)) {
    const words = list.map((word: unknown) => {
      if (typeof word !== "string") throw invalid("args", "args must be a list of texts");
      return checkText(word, "args", COMMAND_LENGTH_MAX);
    });
    if (words.length > 0 || !isGiven(request, "args_str")) {
      return { words, length: words.reduce((sum, word) => sum + word.length, 0) };
    }
  } else {
    const text = readText(request, "args", COMMAND_LENGTH_MAX);
    if (text !== undefined) return { words: splitShellWords(text, "args"), length: text.length };
  }
  const text = readText(request, "args_str", COMMAND_LENGTH_MAX);
  return text === undefined ? undefined : { words: splitShellWords(text, "args_str"), length: text.length };
}

export function commandOf(
  runtype: Runtype,
  onstart: string | null,
  args: readonly string[],
  jupyter: LaunchSettings["jupyter"],
): LaunchCommand {
  // Each instance has a token of its own, made when the host gets its order and stored nowhere.
  if (runtype.mode !== "args") return { mode: "shell", onstart, jupyter: jupyter && { token: "", ...jupyter } };
  if (args.length === 0) return { mode: "entrypoint", entrypoint_shell: onstart, args: null };
  return { mode: "entrypoint", entrypoint_shell: onstart && withArguments(onstart), args: [...args] };
}

/** An entrypoint such as `/bin/sh` gets the arguments that follow it, unless it is a script that uses them itself. */
function withArguments(entrypoint: string): string {
  return /\$\{?[@*1-9]/.test(entrypoint) ? entrypoint : `${entrypoint.trimEnd()} "$@"`;
}

/** Removes Jupyter from the portal of an image in modes without Jupyter. */
function withoutJupyterPortal(entry: OptionEntry, runtype: Runtype): OptionEntry {
  if (entry.kind !== "env" || entry.name !== "PORTAL_CONFIG" || runtype.mode === "jupyter") return entry;
  const apps = entry.value.split("|").filter((app) => !/jupyter/i.test(app));
  if (apps.length === 0) {
    throw invalid("env", "env: PORTAL_CONFIG must have an entry other than Jupyter when the runtype is not jupyter");
  }
  return { ...entry, value: apps.join("|") };
}

function variablesOf(entries: readonly OptionEntry[], request: Fields): readonly (readonly [string, string])[] {
  const given = new Map(entries.flatMap((entry) => (entry.kind === "env" ? [[entry.name, entry.value] as const] : [])));
  const locale: readonly (readonly [string, string])[] = [
    ...(readBoolean(request, "python_utf8") ? [["PYTHONUTF8", "1"] as const] : []),
    ...(readBoolean(request, "lang_utf8") ? [["LANG", "C.UTF-8"] as const, ["LC_ALL", "C.UTF-8"] as const] : []),
  ];
  return [...given, ...locale.filter(([name]) => !given.has(name))];
}

/** The ports of the launch mode, then the requested ones; each container port once per protocol. */
function portsOf(entries: readonly OptionEntry[], runtype: Runtype): readonly PortRequest[] {
  const ports = new Map<string, PortRequest>();
  const add = (port: PortRequest) => ports.set(`${port.container_port}/${port.protocol}`, port);
  if (runtype.is_ssh_direct) add(SSH_PORT);
  if (runtype.is_jupyter_direct) add(JUPYTER_PORT);
  for (const entry of entries) {
    if (entry.kind === "port") add({ container_port: entry.container_port, protocol: entry.protocol });
  }
  return [...ports.values()];
}

function volumeLinksOf(entries: readonly OptionEntry[]) {
  const byPath = new Map<string, { readonly volume: string; readonly mount_path: string }>();
  for (const entry of entries) {
    if (entry.kind !== "volume") continue;
    const mountPath = entry.mount_path.replace(/\/$/, "");
    byPath.set(mountPath, { volume: entry.volume, mount_path: mountPath });
  }
  return [...byPath.values()];
}

function resolveDisk(content: TemplateContent | undefined, request: Fields): number {
  const given = readNumber(request, "disk", { min: DEFAULT_DISK_GB, max: DISK_GB_MAX });
  // A template may recommend less than an instance must have.
  return given ?? Math.max(content?.recommended_disk_space ?? DEFAULT_DISK_GB, DEFAULT_DISK_GB);
}

function resolveJupyter(content: TemplateContent | undefined, request: Fields) {
  const directory = readText(request, "jupyter_dir", JUPYTER_DIR_LENGTH_MAX) ?? content?.jupyter_dir;
  // Clients always send false, so false does not override a template's true.
  const isLab = readBoolean(request, "use_jupyter_lab") === true || content?.use_jupyter_lab === true;
  return { directory: directory || null, is_lab: isLab };
}

function readUser(request: Fields): string | null {
  const user = readText(request, "user", 129);
  if (user === undefined || user === "") return null;
  if (!USER.test(user)) throw invalid("user", "user must be a name or number, with an optional :group");
  return user;
}
