import { templateEdit } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";
import { templateFields, type TemplateOptions } from "./fields.ts";

/** Changes the given settings. The hash is made from the content, so it changes. */
export async function editTemplate(
  hash: string,
  options: ConnectionOptions & TemplateOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await templateEdit(connect(options), { body: { ...templateFields(options), hash_id: hash } });
  printAnswer(answer, options, ({ template }) => `Template ${template.id} has the hash ${template.hash_id} now.`);
}
