// Fields of the form of a template, as a request and as a command.
import type { Template, TemplateCreateRequest } from "../../../sdk/src/index.ts";

export type TemplateFields = {
  readonly name: string;
  readonly image: string;
  readonly desc: string;
  readonly readme: string;
  readonly isPublic: boolean;
  readonly runtype: string;
  readonly isDirect: boolean;
  readonly args: string;
  readonly env: string;
  readonly onstart: string;
  readonly diskGb: number;
  readonly cuda: number | undefined;
  readonly gpuGb: number | undefined;
  readonly registry: string;
  readonly registryUser: string;
  /** Empty keeps the one that is stored. */
  readonly registryPassword: string;
};

const DISK_GB = 16;
/** Memory of GPUs is stored in MB. */
const MB_PER_GB = 1000;

export function firstFields(kind: "edit" | "copy", template: Partial<Template> = {}): TemplateFields {
  const { image = "", tag = "", extra_filters: filters = {} } = template;
  const hasTag = tag === "" || image.endsWith(`:${tag}`) || image.includes("@");
  const gpuMegabytes = leastOf(filters["gpu_ram"]);
  return {
    name: `${kind === "copy" ? "Copy of " : ""}${template.name ?? ""}`,
    image: hasTag ? image : `${image}:${tag}`,
    desc: template.desc ?? "",
    readme: template.readme ?? "",
    isPublic: kind === "edit" && template.private === false,
    runtype: template.runtype ?? "ssh",
    isDirect: template.ssh_direct ?? true,
    args: template.args_str ?? "",
    env: template.env ?? "",
    onstart: template.onstart ?? "",
    diskGb: template.recommended_disk_space ?? DISK_GB,
    cuda: leastOf(filters["cuda_max_good"]),
    gpuGb: gpuMegabytes === undefined ? undefined : gpuMegabytes / MB_PER_GB,
    registry: template.docker_login_repo ?? "",
    registryUser: template.docker_login_user ?? "",
    registryPassword: "",
  };
}

/** The request of the fields. Settings that the form does not show stay those of the template that it began with. */
export function createBody(fields: TemplateFields, template: Partial<Template> = {}) {
  const { runtype, isDirect } = fields;
  const filters = Object.entries(template.extra_filters ?? {}).filter(
    ([field]) => field !== "cuda_max_good" && field !== "gpu_ram",
  );
  return {
    name: fields.name.trim(),
    image: fields.image.trim(),
    desc: fields.desc.trim(),
    readme: fields.readme,
    private: !fields.isPublic,
    runtype,
    use_ssh: runtype !== "args",
    ssh_direct: runtype !== "args" && isDirect,
    jup_direct: runtype === "jupyter" && isDirect,
    use_jupyter_lab: runtype === "jupyter" && (template.use_jupyter_lab ?? true),
    ...(template.jupyter_dir ? { jupyter_dir: template.jupyter_dir } : {}),
    ...(template.href ? { href: template.href } : {}),
    args_str: runtype === "args" ? fields.args : "",
    env: fields.env.trim(),
    onstart: fields.onstart,
    recommended_disk_space: fields.diskGb,
    extra_filters: {
      ...Object.fromEntries(filters),
      ...(fields.cuda === undefined ? {} : { cuda_max_good: { gte: fields.cuda } }),
      ...(fields.gpuGb === undefined ? {} : { gpu_ram: { gte: fields.gpuGb * MB_PER_GB } }),
    },
    docker_login_repo: fields.registry.trim(),
    docker_login_user: fields.registryUser.trim(),
    ...(fields.registryPassword === "" ? {} : { docker_login_pass: fields.registryPassword }),
  } satisfies TemplateCreateRequest;
}

export type TemplateBody = ReturnType<typeof createBody>;

/** Arguments of `./berth` that make the same template; the readme and the login go with the request alone. */
export function createCommand(fields: TemplateFields): readonly string[] {
  const { name, image, desc, env, args, onstart, diskGb, runtype } = fields;
  const option = (flag: string, value: string) => (value === "" ? [] : [flag, value]);
  return [
    ...["template", "create", "--name", name || "NAME", "--image", image || "IMAGE", "--runtype", runtype],
    ...[...option("--description", desc), ...option("--env", env), ...option("--onstart", onstart)],
    ...(runtype === "args" ? option("--args", args) : []),
    ...["--disk", String(diskGb)],
  ];
}

/** The least value that a filter of a template allows. */
function leastOf(filter: unknown): number | undefined {
  if (typeof filter !== "object" || filter === null || !("gte" in filter)) return undefined;
  return typeof filter.gte === "number" ? filter.gte : undefined;
}
