import { instanceUpdateTemplate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & {
  readonly templateId?: number;
  readonly template?: string;
  readonly image?: string;
  readonly args?: string;
  readonly env?: string;
  readonly onstart?: string;
  readonly json?: boolean;
};

/** Changes the settings of an instance. A running one gets a new container at once, a stopped one at its next start. */
export async function updateTemplate(id: number, options: Options): Promise<void> {
  const { templateId, template, image, args, env, onstart } = options;
  const body = given({ template_id: templateId, template_hash_id: template, image, args, env, onstart });
  if (Object.keys(body).length === 0) {
    throw new UserError("No change is given.", "Give --template, --image, --args, --env or --onstart.", 2);
  }
  const answer = await instanceUpdateTemplate(connect(options), { id, body });
  printAnswer(answer, options, ({ msg }) => msg);
}
