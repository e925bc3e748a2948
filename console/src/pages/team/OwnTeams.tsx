import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { teamAcceptInvite, teamCreate, teamLeave, type Team } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { useSwitchAccount } from "../../api/session.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { ShownOnce } from "../../parts/ShownOnce.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import classes from "../account/account.module.css";

/** Teams of a person who acts for themselves: act for one, create one, accept an invitation to one. */
export function OwnTeams({ teams }: { readonly teams: readonly Team[] }) {
  const act = useSwitchAccount();
  const [key, setKey] = useState<string>();
  return (
    <>
      <PageHead title="Teams" note="A team has credit, instances and machines of its own; its members act for it." />
      {act.error !== null && <Failure error={act.error} />}
      <DataTable
        label="Teams"
        rows={teams}
        keyOf={({ id }) => id}
        empty={
          <EmptyState title="No team">Create one below, or accept the invitation that somebody sent you.</EmptyState>
        }
        columns={[
          {
            key: "name",
            title: "Team",
            isName: true,
            sortBy: ({ team_name: name }) => name,
            cell: ({ team_name: name }) => <HostileText text={name} />,
          },
          { key: "role", title: "Your role", isOnCard: true, cell: ({ role }) => <HostileText text={role} /> },
          {
            key: "act",
            title: "Actions",
            isOnCard: true,
            cell: (team) => <TeamActions team={team} isBusy={act.isPending} onAct={() => act.mutate(team.id)} />,
          },
        ]}
      />
      <Section title="Create a team">
        <Create onMade={setKey} />
      </Section>
      <Section title="Accept an invitation">
        <Accept onMade={setKey} />
      </Section>
      <ShownOnce
        title="Your key of the team"
        note="Programs act for the team with it. Copy it now if you need one: it is shown never again. In the console you switch to the team without it."
        what="the key"
        text={key}
        onClose={() => setKey(undefined)}
      />
    </>
  );
}

type ActionsProps = { readonly team: Team; readonly isBusy: boolean; readonly onAct: () => void };

/** Acting for a team, and leaving it. */
function TeamActions({ team: { id, team_name: name, is_owner: isOwner }, isBusy, onAct }: ActionsProps) {
  const leave = useAction(teamLeave, { changes: ["team"] });
  return (
    <span className={classes["buttons"]}>
      <Button size="compact-xs" variant="default" loading={isBusy} onClick={onAct}>
        Act for it<span className="visually-hidden">: {name}</span>
      </Button>
      {isOwner ? (
        <ActionButton size="compact-xs" onClick={() => undefined} reason="Hand the team over first, or delete it.">
          Leave
        </ActionButton>
      ) : (
        <RemoveButton
          action={leave}
          input={{ id: String(id) }}
          verb="Leave"
          what={name}
          loss="Your keys and sessions of the team end at once. What you rented there goes on: it is the team's."
          asCommand={<AsCommand request={{ method: "DELETE", path: `/api/v0/teams/${id}/membership/` }} />}
        />
      )}
    </span>
  );
}

type MadeProps = { readonly onMade: (key: string) => void };

function Create({ onMade }: MadeProps) {
  const [name, setName] = useState("");
  const create = useAction(teamCreate, {
    changes: ["team"],
    onDone: ({ key }) => {
      setName("");
      onMade(key);
    },
  });
  const body = { team_name: name.trim() };
  return (
    <form
      className={classes["form"]}
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate({ body });
      }}
    >
      <TextInput
        label="Name of the team"
        maxLength={64}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
      />
      {create.error !== null && <Failure error={create.error} onRetry={() => create.mutate({ body })} />}
      <div className={classes["buttons"]}>
        <Button type="submit" loading={create.isPending}>
          Create it
        </Button>
        <AsCommand
          command={["team", "create", body.team_name || "NAME"]}
          request={{ method: "POST", path: "/api/v0/team/", body }}
        />
      </div>
    </form>
  );
}

function Accept({ onMade }: MadeProps) {
  const [token, setToken] = useState("");
  const accept = useAction(teamAcceptInvite, {
    changes: ["team"],
    onDone: ({ key }) => {
      setToken("");
      onMade(key);
    },
  });
  return (
    <form
      className={classes["form"]}
      onSubmit={(event) => {
        event.preventDefault();
        accept.mutate({ token: token.trim() });
      }}
    >
      <TextInput
        label="Token of the invitation"
        description="From the mail, or from the person who invites you. It works once, within four hours."
        autoComplete="off"
        value={token}
        onChange={(event) => setToken(event.currentTarget.value)}
        required
      />
      {accept.error !== null && <Failure error={accept.error} />}
      <div className={classes["buttons"]}>
        <Button type="submit" variant="default" loading={accept.isPending}>
          Join the team
        </Button>
        <AsCommand
          command={["team", "accept", token.trim() || "TOKEN"]}
          request={{ method: "GET", path: `/api/v0/team/invite/${encodeURIComponent(token.trim() || "TOKEN")}/` }}
        />
      </div>
    </form>
  );
}
