import { adminUsers, adminUserShow, type AdminUsersAnswer } from "../../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../../connect.ts";
import { given } from "../../../given.ts";
import { dollars, printAnswer, renderFields, renderTable, type Column } from "../../../output.ts";
import { dateText } from "../../../time-text.ts";
import { moreText, type ListOptions } from "./list-options.ts";

type Account = AdminUsersAnswer["users"][number];

const COLUMNS: readonly Column<Account>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "E-MAIL", cell: ({ email }) => email },
  { title: "NAME", cell: ({ fullname, username }) => fullname || username },
  { title: "IS", cell: kindText },
  { title: "CREDIT", cell: ({ credit }) => dollars(credit) },
  { title: "EARNINGS", cell: ({ earnings }) => dollars(earnings) },
  { title: "RUNNING", cell: (account) => account.running_count },
  { title: "MACHINES", cell: (account) => account.machine_count },
  { title: "SINCE", cell: (account) => dateText(account.created_at) },
  { title: "LAST SEEN", cell: ({ last_seen_at: seen }) => (seen === null ? "never" : dateText(seen)) },
];

type UserOptions = ListOptions & { readonly frozen?: true; readonly admins?: true; readonly teams?: true };

/** Accounts that match, the newest first. */
export async function listUsers(q: string | undefined, options: UserOptions): Promise<void> {
  const { limit, after, frozen, admins, teams } = options;
  const filter = { q, limit, after_token: after };
  const flags = { frozen: wanted(frozen), admin: wanted(admins), team: wanted(teams) };
  const answer = await adminUsers(connect(options), { query: given({ ...filter, ...flags }) });
  printAnswer(answer, options, ({ users, next_token: token }) =>
    [renderTable(users, COLUMNS, "No account matches."), moreText(token)].join(""),
  );
}

function wanted(flag: true | undefined): "true" | undefined {
  return flag === true ? "true" : undefined;
}

export async function showUser(id: number, options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await adminUserShow(connect(options), { id });
  printAnswer(answer, options, ({ account }) => {
    const { money, counts } = account;
    const frozen = account.freezes.find(({ lifted_at: lifted }) => lifted === null);
    return renderFields({
      account: `${account.id} (${kindText(account) || "person"})`,
      "e-mail": `${account.email}${account.is_email_proven ? "" : " (not proven)"}`,
      name: account.fullname || account.username,
      since: `${dateText(account.created_at)} UTC`,
      deleted: account.deleted_at === null ? undefined : `${dateText(account.deleted_at)} UTC`,
      credit: `${dollars(money.credit)} (${dollars(money.available)} to spend, ${dollars(money.held)} held)`,
      earnings: dollars(money.earnings),
      instances: `${account.instance_count} (${account.running_count} run)`,
      machines: account.machine_count,
      volumes: counts.volumes,
      endpoints: counts.endpoints,
      "API keys": counts.keys,
      sessions: counts.sessions,
      "second factor": account.has_tfa ? "yes" : "no",
      freeze: frozen === undefined ? undefined : `${frozen.id}: ${frozen.reason}`,
      "payouts held": account.payout_holds.map(({ id: hold, reason }) => `${hold}: ${reason}`).join("; "),
      flags: account.flags.map(({ id: flag, kind }) => `${flag}: ${kind}`).join("; "),
    });
  });
}

function kindText(account: Pick<Account, "is_admin" | "is_team" | "freeze_id" | "parent_id">): string {
  const { is_admin: isAdmin, is_team: isTeam, freeze_id: freezeId, parent_id: parentId } = account;
  const words = [
    isAdmin ? "administrator" : "",
    isTeam ? "team" : "",
    parentId === null ? "" : `subaccount of ${parentId}`,
    freezeId === null ? "" : "frozen",
  ];
  return words.filter((word) => word !== "").join(", ");
}
