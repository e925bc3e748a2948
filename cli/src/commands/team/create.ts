import { teamCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";

/** Creates a team and shows its key. The caller's key stays personal. */
export async function createTeam(
  name: string,
  options: ConnectionOptions & { readonly credit?: number; readonly json?: boolean },
): Promise<void> {
  const body = { team_name: name, ...given({ transfer_credit: options.credit }) };
  const made = await teamCreate(connect(options), { body });
  // Scripts read the key as `api_key`.
  printAnswer({ ...made, api_key: made.key }, options, ({ id, team_name: called, key }) =>
    [
      `The team ${called} is created, with the id ${id}. Its key is shown only now:`,
      "",
      `  ${key}`,
      "",
      "Commands with this key (BERTH_API_KEY or --key) act as the team, and the team pays.",
    ].join("\n"),
  );
}
