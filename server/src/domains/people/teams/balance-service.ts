import type { Identity } from "../../../base/identity.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { isWithin, listMemberships, type BalanceView } from "../accounts/for-teams.ts";
import { requireOwnTeam } from "./authority.ts";

const READ_BILLING = { api: { billing_read: { "api.team.balances": {} } } };

type TeamBalance = {
  readonly team: { readonly id: UserId; readonly name: string };
  readonly balance: BalanceView;
};

/** With a key of a team, its balance; with a personal key, those of all teams whose billing the person's role shows. */
export async function readBalances(
  db: Reader,
  identity: Identity,
  balanceOf: (userId: UserId) => Promise<BalanceView>,
): Promise<readonly TeamBalance[]> {
  if (identity.memberId !== undefined) {
    const { team } = await requireOwnTeam(db, identity);
    return [{ team, balance: await balanceOf(team.id) }];
  }
  const shown = (await listMemberships(db, identity.userId)).filter(({ role }) =>
    isWithin(READ_BILLING, role.permissions),
  );
  return Promise.all(
    shown.map(async ({ teamId: id, teamName: name }) => ({ team: { id, name }, balance: await balanceOf(id) })),
  );
}
