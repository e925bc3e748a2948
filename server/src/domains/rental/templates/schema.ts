import { Type } from "typebox";
import { model } from "../../../http/model.ts";
import { TEXT_LENGTHS } from "./rules/content.ts";

const text = (field: keyof typeof TEXT_LENGTHS, description: string) =>
  Type.String({ maxLength: TEXT_LENGTHS[field], description });
const flag = (description: string) => Type.Boolean({ description });

/** Fields that callers write. */
export const templateFields = {
  name: text("name", "Name for people"),
  image: text("image", "Container image, `[registry/]repository[:tag][@digest]`"),
  tag: text("tag", "Tag of the image; `latest` unless it is given here or in `image`"),
  desc: text("desc", "Description in a sentence"),
  readme: text("readme", "Longer documentation, as Markdown"),
  readme_visible: flag("True when consoles show the readme"),
  env: text("env", "Variables and ports as one text of flags, such as `-e NAME=value -p 8080:8080`; not an object"),
  onstart: text("onstart", "Shell commands that run at each start; with `args_str` at most 4,096 characters"),
  runtype: Type.String({ description: "Launch mode: `ssh`, `jupyter` or `args`; `args` by default" }),
  args_str: text("args_str", "Arguments of the image's entrypoint as one text, for the launch mode `args`"),
  ssh_direct: flag("True for SSH on a mapped port of the host"),
  use_ssh: flag("True for a way in by SSH; by default true unless `runtype` is `args`"),
  jup_direct: flag("True for Jupyter on a mapped port of the host"),
  jupyter_dir: text("jupyter_dir", "Directory in which Jupyter starts; empty for the image's own"),
  use_jupyter_lab: flag("True for the lab interface of Jupyter instead of the notebook interface"),
  docker_login_repo: text("docker_login_repo", "Container registry of the login"),
  docker_login_user: text("docker_login_user", "User name at the container registry"),
  docker_login_pass: text("docker_login_pass", "Password or token for the container registry; it is never returned"),
  href: text("href", "Link to the image's public page"),
  repo: text("repo", "Name of the image's repository"),
  extra_filters: Type.Unknown(),
  recommended_disk_space: Type.Union([Type.Number(), Type.String()], {
    description: "Disk of instances, in GB; 8 by default",
  }),
  private: flag("True when only its creator finds it; true by default"),
  volume_info: Type.Unknown({ description: "A hint for interfaces; it has no effect on instances" }),
  traffic_limit: Type.Optional(Type.Number()),
};

export const NewTemplateBody = Type.Object({
  ...Type.Partial(Type.Object(templateFields)).properties,
  name: templateFields.name,
  image: templateFields.image,
});

export const EditTemplateBody = Type.Object({
  hash_id: Type.String({ description: "Present hash of one of the caller's templates" }),
  restore_hash_id: Type.Optional(
    Type.String({
      description: "Hash of an earlier version of the template, whose content and password come back",
      examples: ["3f1c0a5be9d24c7788aa01f2c3d4e5f6"],
    }),
  ),
  ...Type.Partial(Type.Object(templateFields)).properties,
});

export const DeleteTemplateBody = Type.Object({
  template_id: Type.Optional(Type.Union([Type.Integer(), Type.String()], { description: "Id of the template" })),
  hash_id: Type.Optional(Type.String({ description: "Current or earlier hash of the template, instead of its id" })),
});

export const SearchTemplatesQuery = Type.Object({
  select_filters: Type.Optional(Type.String()),
  select_cols: Type.Optional(Type.String()),
  order_by: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
});

export const TemplatePageQuery = Type.Object({
  search: Type.Optional(Type.String({ maxLength: 256 })),
  select_filters: Type.Optional(Type.String()),
  select_cols: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  after_token: Type.Optional(Type.String({ maxLength: 256 })),
});

/** The record of a template. A search that names columns leaves the others out. */
export const TemplateRecord = model("Template", {
  id: Type.Integer(),
  hash_id: Type.String(),
  name: Type.String(),
  image: Type.Optional(Type.String()),
  tag: Type.Optional(Type.String()),
  default_tag: Type.Optional(Type.String()),
  desc: Type.Optional(Type.String()),
  readme: Type.Optional(Type.String()),
  readme_visible: Type.Optional(Type.Boolean()),
  env: Type.Optional(Type.String()),
  onstart: Type.Optional(Type.String()),
  runtype: Type.Optional(Type.String()),
  args_str: Type.Optional(Type.String()),
  ssh_direct: Type.Optional(Type.Boolean()),
  use_ssh: Type.Optional(Type.Boolean()),
  jup_direct: Type.Optional(Type.Boolean()),
  jupyter_dir: Type.Optional(Type.Unsafe<string | null>({ type: ["string", "null"] })),
  use_jupyter_lab: Type.Optional(Type.Boolean()),
  docker_login_repo: Type.Optional(Type.String()),
  docker_login_user: Type.Optional(
    Type.String({ description: "User name at the container registry; shown to the creator only" }),
  ),
  href: Type.Optional(Type.String()),
  repo: Type.Optional(Type.String()),
  extra_filters: Type.Optional(Type.Object({}, { additionalProperties: true })),
  recommended_disk_space: Type.Optional(Type.Number()),
  private: Type.Optional(Type.Boolean()),
  recommended: Type.Optional(Type.Boolean()),
  shipped: Type.Optional(Type.Boolean()),
  volume_info: Type.Optional(Type.Unknown()),
  traffic_limit: Type.Optional(Type.Union([Type.Number(), Type.String(), Type.Null()])),
  creator_id: Type.Optional(Type.Integer()),
  created_at: Type.Optional(Type.Number()),
  count_created: Type.Optional(Type.Integer({ description: "Number of instances that were created from it" })),
  recent_create_date: Type.Optional(Type.Unsafe<number | null>({ type: ["number", "null"] })),
  user_template_id: Type.Optional(Type.Integer()),
  last_used_at: Type.Optional(Type.Number()),
});

export const TemplateAnswer = model("ShownTemplate", {
  success: Type.Literal(true),
  msg: Type.String(),
  template: TemplateRecord,
});

export const EditedTemplateAnswer = Type.Object({
  ...TemplateAnswer.properties,
  hash_id: Type.String({ description: "The hash of the template after the edit" }),
});

export const TemplatesAnswer = Type.Object({
  success: Type.Literal(true),
  templates_found: Type.Integer({ description: "Number of matching templates, on this page and beyond" }),
  templates: Type.Array(TemplateRecord),
});

export const TemplatePageAnswer = Type.Object({
  success: Type.Boolean({ description: "False when no template matches, or none is left" }),
  msg: Type.Optional(Type.String({ description: "The reason when `success` is false" })),
  templates_found: Type.Integer({ description: "Number of templates on this page", examples: [1] }),
  templates: Type.Array(TemplateRecord, { description: "Templates of this page, in the order of their ids" }),
  next_token: Type.Union([Type.String(), Type.Null()]),
});

export const ParamsAnswer = Type.Object({
  success: Type.Literal(true),
  limits: Type.Record(Type.String(), Type.Integer(), {
    description: "The most characters that each text field of a template may have, by the name of the field",
    examples: [{ name: TEXT_LENGTHS.name, onstart: TEXT_LENGTHS.onstart }],
  }),
});

export const DeletedAnswer = Type.Object({ success: Type.Literal(true), msg: Type.String() });
