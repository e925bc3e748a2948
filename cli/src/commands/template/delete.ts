import { templateDelete } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

export async function deleteTemplate(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await templateDelete(connect(options), { body: { template_id: id } });
  printAnswer(answer, options, () => `Template ${id} is deleted.`);
}
