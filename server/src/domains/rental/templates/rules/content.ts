import { Type, type Static } from "typebox";
import { Compile } from "typebox/compile";
import { invalid } from "../../../../base/errors.ts";
import { invariant } from "../../../../base/invariant.ts";
import { readExtraFilters, type ExtraFilters } from "./extra-filters.ts";
import { checkText, isGiven, readBoolean, readNumber, readObject, readText, type Fields } from "./fields.ts";
import { DEFAULT_TAG, IMAGE_LENGTH_MAX, checkTag, parseImageReference } from "./image-reference.ts";
import { parseOptionString } from "./option-string.ts";

/** The fields of a template that callers write and read back. The registry password is kept apart from them. */
export const TemplateContent = Type.Object({
  name: Type.String(),
  image: Type.String(),
  tag: Type.String(),
  desc: Type.String(),
  readme: Type.String(),
  readme_visible: Type.Boolean(),
  env: Type.String(),
  onstart: Type.String(),
  runtype: Type.Union([Type.Literal("ssh"), Type.Literal("jupyter"), Type.Literal("args")]),
  args_str: Type.String(),
  ssh_direct: Type.Boolean(),
  use_ssh: Type.Boolean(),
  jup_direct: Type.Boolean(),
  jupyter_dir: Type.Union([Type.String(), Type.Null()]),
  use_jupyter_lab: Type.Boolean(),
  docker_login_repo: Type.String(),
  docker_login_user: Type.String(),
  href: Type.String(),
  repo: Type.String(),
  extra_filters: Type.Unsafe<ExtraFilters>(Type.Object({}, { additionalProperties: true })),
  recommended_disk_space: Type.Number(),
  private: Type.Boolean(),
  volume_info: Type.Union([Type.Unsafe<Fields>(Type.Object({}, { additionalProperties: true })), Type.Null()]),
  traffic_limit: Type.Optional(
    Type.Number({
      description:
        "The most that all traffic of an instance may cost, in dollars; absent when the template does not set it.",
    }),
  ),
});
export type TemplateContent = Readonly<Static<typeof TemplateContent>>;
type TemplateRuntype = TemplateContent["runtype"];

const RUNTYPES: readonly TemplateRuntype[] = ["ssh", "jupyter", "args"];

const storedContent = Compile(TemplateContent);

/** The content as it comes back from the database. */
export function readStoredContent(stored: unknown): TemplateContent {
  invariant(storedContent.Check(stored), "stored template content keeps its shape");
  return stored;
}

export const DEFAULT_DISK_GB = 8;
export const DISK_GB_MAX = 1_000_000;
/** Bound of `onstart` and arguments together in characters, in a template as in an instance. */
export const COMMAND_LENGTH_MAX = 4096;
export const TEXT_LENGTHS = {
  name: 255,
  image: IMAGE_LENGTH_MAX,
  tag: 128,
  desc: 4096,
  readme: 131_072,
  env: 32_768,
  onstart: COMMAND_LENGTH_MAX,
  args_str: COMMAND_LENGTH_MAX,
  jupyter_dir: 1024,
  docker_login_repo: 1024,
  docker_login_user: 256,
  docker_login_pass: 4096,
  href: 2048,
  repo: 1024,
} as const;
const VOLUME_INFO_LENGTH_MAX = 16_384;

/** Reads the content of a new template. `name` and `image` are required; an absent or null field has its default. */
export function readNewContent(fields: Fields): TemplateContent {
  if (!isGiven(fields, "name") || fields["name"] === "") throw invalid("name", "Template name is required");
  if (!isGiven(fields, "image") || fields["image"] === "") throw invalid("image", "Template image is required");
  // Launch modes other than `args` are reached through SSH unless the template says otherwise.
  const runtype = readRuntype(fields) ?? DEFAULTS.runtype;
  return readContent(fields, { ...DEFAULTS, use_ssh: runtype !== "args" });
}

/** Reads an edit: an absent or null field keeps its value. */
export function readChangedContent(fields: Fields, current: TemplateContent): TemplateContent {
  for (const field of ["name", "image"]) {
    if (fields[field] === "") throw invalid(field, `Template ${field} is required`);
  }
  return readContent(fields, current);
}

/** The password of an edit or a new template; undefined when it is not given, empty when it is to be removed. */
export function readPassword(fields: Fields): string | undefined {
  return readText(fields, "docker_login_pass", TEXT_LENGTHS.docker_login_pass);
}

const DEFAULTS: TemplateContent = {
  name: "",
  image: "",
  tag: DEFAULT_TAG,
  desc: "",
  readme: "",
  readme_visible: true,
  env: "",
  onstart: "",
  runtype: "args",
  args_str: "",
  ssh_direct: false,
  use_ssh: false,
  jup_direct: false,
  jupyter_dir: null,
  use_jupyter_lab: false,
  docker_login_repo: "",
  docker_login_user: "",
  href: "",
  repo: "",
  extra_filters: {},
  recommended_disk_space: DEFAULT_DISK_GB,
  // An `env` often holds secrets, so a template is public only when its owner asks for that.
  private: true,
  volume_info: null,
};

function readContent(fields: Fields, base: TemplateContent): TemplateContent {
  const text = (field: keyof typeof TEXT_LENGTHS & keyof TemplateContent): string | undefined =>
    readText(fields, field, TEXT_LENGTHS[field]);
  const image = text("image")?.trim() ?? base.image;
  const trafficLimit = readTrafficDollars(fields) ?? base.traffic_limit;
  const content: TemplateContent = {
    name: text("name") ?? base.name,
    image,
    tag: readTag(fields, image, base.tag),
    desc: text("desc") ?? base.desc,
    readme: text("readme") ?? base.readme,
    readme_visible: readBoolean(fields, "readme_visible") ?? base.readme_visible,
    env: readEnv(fields) ?? base.env,
    onstart: text("onstart") ?? base.onstart,
    runtype: readRuntype(fields) ?? base.runtype,
    args_str: text("args_str") ?? base.args_str,
    ssh_direct: readBoolean(fields, "ssh_direct") ?? base.ssh_direct,
    use_ssh: readBoolean(fields, "use_ssh") ?? base.use_ssh,
    jup_direct: readBoolean(fields, "jup_direct") ?? base.jup_direct,
    jupyter_dir: (text("jupyter_dir") ?? base.jupyter_dir) || null,
    use_jupyter_lab: readBoolean(fields, "use_jupyter_lab") ?? base.use_jupyter_lab,
    docker_login_repo: text("docker_login_repo") ?? base.docker_login_repo,
    docker_login_user: text("docker_login_user") ?? base.docker_login_user,
    href: text("href") ?? base.href,
    repo: text("repo") ?? base.repo,
    extra_filters: readExtraFilters(fields, "extra_filters") ?? base.extra_filters,
    recommended_disk_space:
      readNumber(fields, "recommended_disk_space", { min: 0, max: DISK_GB_MAX }) ?? base.recommended_disk_space,
    private: readBoolean(fields, "private") ?? base.private,
    volume_info: readObject(fields, "volume_info", VOLUME_INFO_LENGTH_MAX) ?? base.volume_info,
    // Left out when it is not set, so that older templates keep their hashes.
    ...(trafficLimit === undefined ? {} : { traffic_limit: trafficLimit }),
  };
  if (content.onstart.length + content.args_str.length > COMMAND_LENGTH_MAX) {
    const field = isGiven(fields, "onstart") ? "onstart" : "args_str";
    throw invalid(field, `onstart and args_str together are longer than ${COMMAND_LENGTH_MAX} characters`);
  }
  return content;
}

const TRAFFIC_LIMIT_DOLLARS_MAX = 1_000_000;

/** The most that all traffic of an instance may cost, in dollars; undefined when the fields do not set it. */
export function readTrafficDollars(fields: Fields): number | undefined {
  return readNumber(fields, "traffic_limit", { min: 0, max: TRAFFIC_LIMIT_DOLLARS_MAX });
}

/** A tag inside the image is the template's tag, unless the caller names one; without either it keeps its value. */
function readTag(fields: Fields, image: string, current: string): string {
  const reference = parseImageReference(image, "image");
  const given = readText(fields, "tag", TEXT_LENGTHS.tag);
  if (given !== undefined && given !== "") {
    checkTag(given, "tag");
    return given;
  }
  return isGiven(fields, "image") ? (reference.tag ?? current) : current;
}

function readEnv(fields: Fields): string | undefined {
  const env = fields["env"];
  if (env === undefined || env === null) return undefined;
  if (typeof env !== "string") throw invalid("env", 'env must be a string such as "-e NAME=value -p 8080:8080"');
  checkText(env, "env", TEXT_LENGTHS.env);
  parseOptionString(env, "env");
  return env;
}

function readRuntype(fields: Fields): TemplateRuntype | undefined {
  const text = readText(fields, "runtype", 64);
  if (text === undefined || text === "") return undefined;
  const known = RUNTYPES.find((runtype) => runtype === text);
  if (known === undefined) throw invalid("runtype", `runtype must be one of ${RUNTYPES.join(", ")}`);
  return known;
}
