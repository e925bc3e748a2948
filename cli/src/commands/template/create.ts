import { templateCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";
import { templateFields, type TemplateOptions } from "./fields.ts";

type Options = ConnectionOptions &
  TemplateOptions & { readonly name: string; readonly image: string; readonly json?: boolean };

export async function createTemplate(options: Options): Promise<void> {
  const { name, image } = options;
  const answer = await templateCreate(connect(options), { body: { ...templateFields(options), name, image } });
  printAnswer(answer, options, ({ template }) => `Template ${template.id} has the hash ${template.hash_id}.`);
}
