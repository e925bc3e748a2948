import { createClient } from "../../../../sdk/src/client.ts";
import { apikeyCreate, apikeyDelete, teamCreate } from "../../../../sdk/src/operations.ts";
import { addressesOf, connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";

const KEY_NAME_LENGTH_MAX = 255;

/**
 * Creates a team with a key made for it, since the key that creates a team becomes the team's. The caller's key stays.
 */
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
      `The team ${called} is created, with the id ${teamId}. Its key is shown only now:`,
      "",
      `  ${secret}`,
      "",
      "Commands with this key (BERTH_API_KEY or --key) act as the team, and the team pays.",
    ].join("\n"),
  );
}
