import type { Static } from "typebox";
import { epochSeconds } from "../../../base/clock.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Template } from "./columns.ts";
import { TemplateRecord } from "./schema.ts";

export type TemplateView = Static<typeof TemplateRecord>;

export const TEMPLATE_VIEW_FIELDS: readonly string[] = Object.keys(TemplateRecord.properties);

/** Fields that every record of a template has, also when a search chose other columns. */
const ALWAYS: readonly string[] = ["id", "hash_id", "name"];

/** A template for this viewer: everything but the registry password, and the registry user only for its owner. */
export function viewTemplate(template: Template, viewerId: UserId): TemplateView {
  const { docker_login_user: loginUser, ...content } = template.content;
  return {
    id: template.id,
    hash_id: template.hash_id,
    ...content,
    ...(template.creator_id === viewerId ? { docker_login_user: loginUser } : {}),
    default_tag: content.tag,
    recommended: template.is_recommended,
    shipped: template.is_shipped,
    creator_id: template.creator_id,
    created_at: epochSeconds(template.created_at),
    count_created: template.count_created,
    recent_create_date: template.recent_create_at && epochSeconds(template.recent_create_at),
  };
}

/** The chosen columns of a record; undefined chooses all. */
export function pickColumns(view: TemplateView, chosen: ReadonlySet<string> | undefined): TemplateView {
  if (chosen === undefined) return view;
  const { id, hash_id, name } = view;
  const rest = Object.entries(view).filter(([field]) => chosen.has(field) && !ALWAYS.includes(field));
  return { id, hash_id, name, ...Object.fromEntries(rest) };
}
