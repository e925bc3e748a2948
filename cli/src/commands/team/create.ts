import { createClient } from "../../../../sdk/src/client.ts";
import { apikeyCreate, apikeyDelete, teamCreate } from "../../../../sdk/src/operations.ts";
import { addressesOf, connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";

const KEY_NAME_LENGTH_MAX = 255;

/** The key that creates a team becomes the team's: so one is made for that, and the caller's own stays what it is. */
export async function createTeam(
  name: string,
  options: ConnectionOptions & { readonly credit?: number; readonly json?: boolean },
): Promise<void> {
  const client = connect(options);
  const { id, key } = await apikeyCreate(client, { body: { name: `team ${name}`.slice(0, KEY_NAME_LENGTH_MAX) } });
  const body = { team_name: name, ...given({ transfer_credit: options.credit }) };
  const asTeam = createClient({ baseUrl: addressesOf(options), apiKey: key });
  const made = await teamCreate(asTeam, { body }).catch(async (error: unknown) => {
    await apikeyDelete(client, { id: String(id) });
    throw error;
  });
  printAnswer({ ...made, api_key: key }, options, ({ id: teamId, team_name: called, api_key: secret }) =>
    [
      `The team ${called} is there, with the id ${teamId}. Its key is shown only now:`,
      "",
      `  ${secret}`,
      "",
      "What is done with it, as BERTH_API_KEY or --key, is done and paid by the team.",
    ].join("\n"),
  );
}
