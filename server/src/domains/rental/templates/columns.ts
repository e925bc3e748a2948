import { epochSeconds } from "../../../base/clock.ts";
import type { Columns } from "../../../base/filters/filter.ts";
import type { TemplateId, UserId } from "../../../base/ids.ts";
import type { TemplateContent } from "./rules/content.ts";

/** A template as it is stored, without its password. */
export type Template = {
  readonly id: TemplateId;
  readonly creator_id: UserId;
  readonly hash_id: string;
  readonly content: TemplateContent;
  readonly is_recommended: boolean;
  /** True when it came with the server. */
  readonly is_shipped: boolean;
  readonly count_created: number;
  readonly recent_create_at: Date | null;
  readonly created_at: Date;
};

/** Searchable fields of templates, among them `private`, which published clients send. */
export const TEMPLATE_COLUMNS = {
  creator_id: { type: "integer", get: (row) => row.creator_id },
  created_at: { type: "time", get: (row) => epochSeconds(row.created_at) },
  count_created: { type: "integer", get: (row) => row.count_created },
  default_tag: { type: "text", get: (row) => row.content.tag },
  docker_login_repo: { type: "text", get: (row) => row.content.docker_login_repo },
  id: { type: "integer", get: (row) => row.id },
  image: { type: "text", get: (row) => row.content.image },
  jup_direct: { type: "boolean", get: (row) => row.content.jup_direct },
  hash_id: { type: "text", get: (row) => row.hash_id },
  name: { type: "text", get: (row) => row.content.name },
  private: { type: "boolean", get: (row) => row.content.private },
  recent_create_date: { type: "time", get: (row) => row.recent_create_at && epochSeconds(row.recent_create_at) },
  recommended_disk_space: { type: "number", get: (row) => row.content.recommended_disk_space },
  recommended: { type: "boolean", get: (row) => row.is_recommended },
  ssh_direct: { type: "boolean", get: (row) => row.content.ssh_direct },
  tag: { type: "text", get: (row) => row.content.tag },
  use_ssh: { type: "boolean", get: (row) => row.content.use_ssh },
} as const satisfies Columns<Template>;

export type TemplateColumn = keyof typeof TEMPLATE_COLUMNS;

export function isTemplateColumn(name: string): name is TemplateColumn {
  return Object.hasOwn(TEMPLATE_COLUMNS, name);
}
