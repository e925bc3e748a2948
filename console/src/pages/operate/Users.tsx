import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { adminUsers, type FoundAccount } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { money } from "../../text/money.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { Choice, Filters, Pager } from "./Filters.tsx";
import { AccountLink } from "./links.tsx";
import { NewAccount } from "./NewAccount.tsx";

const route = getRouteApi("/frame/operate/users");
const ROWS = 50;

/** Accounts of people and teams, found by name, address, id or state. */
export function Users() {
  const { q, frozen, admin, team, after } = route.useSearch();
  const navigate = route.useNavigate();
  const [isCreating, creating] = useDisclosure(false);
  const query = {
    limit: ROWS,
    ...(q && { q }),
    ...(frozen && { frozen }),
    ...(admin && { admin }),
    ...(team && { team }),
  };
  const users = useQuery(
    ask("operator.users", adminUsers, { query: { ...query, ...(after && { after_token: after }) } }),
  );
  const change = (changed: ReturnType<typeof route.useSearch>) =>
    void navigate({ search: (before) => ({ ...before, after: undefined, ...changed }), replace: true });
  return (
    <>
      <PageHead
        title="Users"
        note="Accounts of people and teams, the newest first"
        actions={<Button onClick={creating.open}>Add an account</Button>}
      />
      <Filters
        label="Find people"
        placeholder="Id, name or e-mail address"
        q={q}
        onText={(text) => change({ q: text })}
      >
        <Choice label="Frozen" words={YES_NO} value={frozen} onChange={(value) => change({ frozen: value })} />
        <Choice label="Administrator" words={YES_NO} value={admin} onChange={(value) => change({ admin: value })} />
        <Choice label="Team" words={YES_NO} value={team} onChange={(value) => change({ team: value })} />
      </Filters>
      <Answer query={users} rows={10}>
        {(answer) => (
          <>
            <DataTable
              label="Users"
              rows={answer.users}
              columns={COLUMNS}
              keyOf={({ id }) => id}
              isSortedElsewhere
              onOpen={({ id }) => void navigate({ to: "/operate/users/$id", params: { id: String(id) } })}
              empty={
                <EmptyState title="Nobody matches">
                  Take a filter away, or type another part of the name or of the e-mail address.
                </EmptyState>
              }
            />
            <Pager
              after={after}
              nextToken={answer.next_token}
              onPage={(token) => void navigate({ search: (before) => ({ ...before, after: token }) })}
            />
          </>
        )}
      </Answer>
      <NewAccount isOpen={isCreating} onClose={creating.close} />
    </>
  );
}

export const YES_NO = [
  ["true", "Yes"],
  ["false", "No"],
] as const;

const COLUMNS: readonly Column<FoundAccount>[] = [
  { key: "name", title: "Name", isName: true, cell: (row) => <AccountLink id={row.id} name={nameOf(row)} /> },
  { key: "email", title: "E-mail", isOnCard: true, cell: ({ email }) => <HostileText text={email} /> },
  { key: "state", title: "State", isOnCard: true, cell: (row) => <AccountState account={row} /> },
  { key: "credit", title: "Credit", isFigure: true, isOnCard: true, cell: ({ credit }) => money(credit) },
  { key: "earnings", title: "Earnings", isFigure: true, cell: ({ earnings }) => money(earnings) },
  { key: "running", title: "Running", isFigure: true, cell: (row) => `${row.running_count} of ${row.instance_count}` },
  { key: "machines", title: "Machines", isFigure: true, cell: (row) => row.machine_count },
  { key: "id", title: "Id", isFigure: true, cell: ({ id }) => id },
  {
    key: "seen",
    title: "Last seen",
    cell: ({ last_seen_at: at }) => (at === null ? <span className="dim">never</span> : <Ago at={at} />),
  },
];

function nameOf({ username, fullname, email }: FoundAccount): string {
  if (username !== "") return username;
  return fullname === "" ? email : fullname;
}

/** Frozen, administrator, team or person: the state that matters most first. */
export function AccountState({ account }: { readonly account: FoundAccount }) {
  if (account.freeze_id !== null) return <StateBadge state={{ word: "frozen", tone: "red", icon: "off" }} />;
  if (account.is_admin) return <StateBadge state={{ word: "administrator", tone: "violet", icon: "dot" }} />;
  if (account.is_team) return <StateBadge state={{ word: "team", tone: "blue", icon: "dot" }} />;
  return (
    <StateBadge state={{ word: account.parent_id === null ? "person" : "subaccount", tone: "grey", icon: "dot" }} />
  );
}
