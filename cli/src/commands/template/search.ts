import { templateSearch, type TemplateSearchAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";

type Template = TemplateSearchAnswer["templates"][number];

const COLUMNS: readonly Column<Template>[] = [
  { title: "ID", cell: (template) => template.id },
  { title: "HASH", cell: (template) => template.hash_id },
  { title: "NAME", cell: (template) => template.name },
  { title: "IMAGE", cell: ({ image, tag }) => (tag ? `${image}:${tag}` : image) },
  { title: "RUNTYPE", cell: (template) => template.runtype },
];

/** Lists templates; `filters` is the API's object, such as `{"name":{"eq":"mine"}}`. */
export async function searchTemplates(
  options: ConnectionOptions & { readonly filters?: object; readonly json?: boolean },
): Promise<void> {
  const { filters } = options;
  const query = filters === undefined ? {} : { select_filters: JSON.stringify(filters) };
  const answer = await templateSearch(connect(options), { query });
  printAnswer(answer, options, ({ templates }) => renderTable(templates, COLUMNS, "No template matches."));
}
