// Templates as their pages ask for them, and texts about them.
import { queryOptions } from "@tanstack/react-query";
import { templatePage, templateRecent, templateSearch, type Template } from "../../../../sdk/src/index.ts";
import { client } from "../../api/client.ts";
import type { Shown } from "./shown.ts";

/** Readmes are long, so lists come without them. */
const LISTED = JSON.stringify([
  ...["id", "hash_id", "name", "image", "tag", "desc", "runtype", "private", "shipped", "recommended"],
  ...["creator_id", "count_created", "recent_create_date", "recommended_disk_space", "extra_filters"],
]);
const LIST_MAX = 500;
const RECENT_MAX = 50;

/** Templates that a person may rent with: all, or those that hold a text. */
export function templatesQuery(text: string) {
  return queryOptions({
    queryKey: ["template", "template.list", text],
    async queryFn({ signal }) {
      const query = { select_cols: LISTED, limit: LIST_MAX };
      const { templates } =
        text === ""
          ? await templateSearch(client, { query }, { signal })
          : await templatePage(client, { query: { ...query, search: text } }, { signal });
      return templates;
    },
  });
}

export const recentQuery = queryOptions({
  queryKey: ["template", "template.recent"],
  queryFn: async ({ signal }) =>
    (await templateRecent(client, { query: { page_size: RECENT_MAX } }, { signal })).templates,
});

/** One template, whole; null when there is none that this person may see. */
export function templateQuery(id: string) {
  return queryOptions({
    queryKey: ["template", "template.one", id],
    async queryFn({ signal }) {
      if (!/^\d{1,9}$/.test(id)) return null;
      const filters = JSON.stringify({ id: { eq: Number(id) } });
      const { templates } = await templateSearch(client, { query: { select_filters: filters } }, { signal });
      return templates[0] ?? null;
    },
  });
}

export function choose(templates: readonly Template[], shown: Shown, ownerId: number | undefined) {
  switch (shown) {
    case "shipped":
      return templates.filter(({ shipped }) => shipped === true);
    case "own":
      return templates.filter(({ creator_id: creator }) => creator === ownerId);
    case "public":
      return templates.filter((one) => one.private === false && one.shipped !== true);
    case "all":
    case "recent":
      return templates;
  }
}

/** `pytorch/pytorch:2.8.0`. */
export function imageOf({ image = "", tag = "" }: Pick<Template, "image" | "tag">): string {
  return tag === "" || image.endsWith(`:${tag}`) || image.includes("@") ? image : `${image}:${tag}`;
}

export function kindOf({ shipped, private: isPrivate, creator_id: creator }: Template, ownerId: number | undefined) {
  if (shipped === true) return "comes with Berth";
  if (isPrivate !== false) return creator === ownerId ? "yours, private" : "private";
  return creator === ownerId ? "yours, public" : "public";
}

const MODES: Readonly<Record<string, string>> = {
  ssh: "SSH, then the start script",
  jupyter: "Jupyter and SSH, then the start script",
  args: "the image's own entrypoint",
};

export function modeOf({ runtype = "args" }: Pick<Template, "runtype">): string {
  return MODES[runtype] ?? runtype;
}

/** Fields whose unit in the language of queries is larger than in a stored filter. */
const SCALES: Readonly<Record<string, number>> = {
  cpu_ram: 1000,
  gpu_ram: 1000,
  gpu_total_ram: 1000,
  duration: 86_400,
};
const SIGNS: Readonly<Record<string, string>> = { eq: "=", neq: "!=", gt: ">", gte: ">=", lt: "<", lte: "<=" };

/** The filters of a template as a query of the market: `cuda_max_good>=12.8 gpu_ram>=8`. */
export function queryTextOf(filters: Template["extra_filters"] = {}): string {
  const parts = Object.entries(filters).flatMap(([field, conditions]) =>
    typeof conditions !== "object" || conditions === null
      ? []
      : Object.entries(conditions).flatMap(([operator, value]: readonly [string, unknown]) => {
          const sign = SIGNS[operator];
          const word = wordOf(field, value);
          return sign === undefined || word === undefined ? [] : [`${field}${sign}${word}`];
        }),
  );
  return parts.join(" ");
}

function wordOf(field: string, value: unknown): string | undefined {
  if (typeof value === "number") return String(value / (SCALES[field] ?? 1));
  if (typeof value === "boolean") return String(value);
  return typeof value === "string" && /^[\w.: -]+$/.test(value) ? value.replaceAll(" ", "_") : undefined;
}
