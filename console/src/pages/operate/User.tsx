import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { adminUserShow, type AccountFile } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { money } from "../../text/money.ts";
import { count } from "../../text/size.ts";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import { Tiles, Facts } from "./Tiles.tsx";
import { AccountLink } from "./links.tsx";
import { UserActions } from "./UserActions.tsx";
import { UserFlags, UserFreezes, UserHolds } from "./UserRecords.tsx";
import { AccountState } from "./Users.tsx";
import classes from "./operate.module.css";

const route = getRouteApi("/frame/operate/users/$id");

/** The record of one account: who it is, its money, what it runs, and acts of administrators. */
export function User() {
  const { id } = route.useParams();
  const record = useQuery(ask("operator.user", adminUserShow, { id: Number(id) }));
  return (
    <>
      <p style={{ margin: "0 0 4px" }}>
        <Link to="/operate/users">Users</Link>
      </p>
      <Answer query={record} rows={12}>
        {({ account }) => <UserRecord account={account} />}
      </Answer>
    </>
  );
}

function UserRecord({ account }: { readonly account: AccountFile }) {
  const { id, username, email, counts, money: sums, deleted_at: deletedAt } = account;
  return (
    <>
      <PageHead
        title={<HostileText text={username === "" ? email : username} />}
        note={
          <>
            Account {id} · <AccountState account={account} />
            {deletedAt !== null && (
              <>
                {" "}
                · deleted <Ago at={deletedAt} />
              </>
            )}
          </>
        }
        actions={deletedAt === null && <UserActions account={account} />}
      />
      <Tiles
        tiles={[
          { label: "Credit", value: money(sums.credit), tone: sums.credit < 0 ? "red" : undefined },
          { label: "Free to spend", value: money(sums.available), note: `${money(sums.held)} held for what runs` },
          { label: "Earnings not paid out", value: money(sums.earnings), tone: sums.earnings < 0 ? "red" : undefined },
          {
            label: "Instances running",
            value: `${account.running_count} of ${account.instance_count}`,
            note: (
              <Link to="/operate/instances" search={{ renter: id }}>
                Show them
              </Link>
            ),
          },
          {
            label: "Machines",
            value: account.machine_count,
            note: (
              <Link to="/operate/machines" search={{ host: id }}>
                Show them
              </Link>
            ),
          },
        ]}
      />
      <div className={classes["columns"]}>
        <Section title="Who it is">
          <Facts facts={accountFacts(account)} />
        </Section>
        <Section title="What it keeps">
          <Facts
            facts={[
              ["API keys", counts.keys],
              ["Sessions", counts.sessions],
              ["Teams", account.is_team ? count(counts.members, "member") : counts.teams],
              ["Subaccounts", counts.subaccounts],
              ["Volumes", counts.volumes],
              ["Network disks", counts.network_disks],
              ["Endpoints", counts.endpoints],
              ["Requests in the queue", counts.standing_requests],
            ]}
          />
        </Section>
      </div>
      <UserFreezes account={account} />
      <UserFlags account={account} />
      <UserHolds account={account} />
    </>
  );
}

function accountFacts(account: AccountFile) {
  const { email, is_email_proven: isProven, fullname, parent_id: parentId, has_tfa: hasTfa } = account;
  const { created_at: createdAt, last_seen_at: seenAt } = account;
  return [
    [
      "E-mail",
      <>
        <HostileText text={email} /> <span className="dim">{isProven ? "proven" : "not proven"}</span>
      </>,
    ],
    ["Full name", fullname === "" ? <span className="dim">not given</span> : <HostileText text={fullname} />],
    ["Parent account", parentId === null ? <span className="dim">none</span> : <AccountLink id={parentId} />],
    ["Second factor", hasTfa ? "yes" : "no"],
    ["Since", <Ago key="since" at={createdAt} />],
    ["Last seen", seenAt === null ? <span className="dim">never</span> : <Ago at={seenAt} />],
  ] as const;
}
