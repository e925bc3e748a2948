import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  teamMembers,
  teamRemoveMember,
  teamRolesFull,
  teamSetMemberRole,
  teamTransfer,
  teamUpdate,
  type Team,
  type TeamMember,
  type TeamRole,
} from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { askPlain } from "../../api/query.ts";
import { useSwitchAccount } from "../../api/session.ts";
import { MemberInvite } from "../../forms/member-invite.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import classes from "../account/account.module.css";
import { Roles } from "./Roles.tsx";
import { TeamKeys } from "./TeamKeys.tsx";

/** The team for which the person acts: its members, roles and keys. */
export function OneTeam({ team }: { readonly team: Team }) {
  const back = useSwitchAccount();
  const members = useQuery(askPlain("team.members", teamMembers));
  const roles = useQuery(askPlain("team.roles", teamRolesFull));
  const known = roles.data ?? [];
  return (
    <>
      <PageHead
        title={<HostileText text={team.team_name} />}
        note={
          <>
            You act for this team as <HostileText text={team.role} />.
          </>
        }
        actions={
          <Button variant="default" loading={back.isPending} onClick={() => back.mutate(undefined)}>
            Act for myself
          </Button>
        }
      />
      {back.error !== null && <Failure error={back.error} />}
      <Section title="Members">
        <Answer query={members}>{(answer) => <Members team={team} members={answer} roles={known} />}</Answer>
      </Section>
      <Section title="Invite somebody">
        <MemberInvite roles={known} />
      </Section>
      <Section title="Roles">
        <Answer query={roles}>{(answer) => <Roles roles={answer} />}</Answer>
      </Section>
      <Section title="Keys of the team">
        <TeamKeys />
      </Section>
      <Section title="Name">
        <Rename team={team} />
      </Section>
    </>
  );
}

type MembersProps = {
  readonly team: Team;
  readonly members: readonly TeamMember[];
  readonly roles: readonly TeamRole[];
};

function Members({ team, members, roles }: MembersProps) {
  const setRole = useAction(teamSetMemberRole, { changes: ["team"] });
  const given = roles.filter(({ identifier }) => identifier !== "owner").map(({ name }) => name);
  const shown = members.find(({ role }) => given.includes(role));
  return (
    <>
      {shown !== undefined && (
        <div>
          <AsCommand
            command={["team", "set-role", String(shown.id), shown.role]}
            request={{
              ...{ method: "POST", path: `/api/v0/team/members/${shown.id}/roles/` },
              body: { role: shown.role },
            }}
          />
        </div>
      )}
      {setRole.error !== null && <Failure error={setRole.error} />}
      <DataTable
        label="Members"
        rows={members}
        keyOf={({ id }) => id}
        empty={null}
        columns={[
          { key: "name", title: "Name", isName: true, cell: ({ username }) => <HostileText text={username} /> },
          { key: "email", title: "E-mail address", isOnCard: true, cell: ({ email }) => <HostileText text={email} /> },
          {
            key: "role",
            title: "Role",
            isOnCard: true,
            cell: ({ id, role, username }) =>
              given.includes(role) ? (
                <NativeSelect
                  size="xs"
                  aria-label={`Role of ${username}`}
                  data={given}
                  value={role}
                  disabled={setRole.isPending}
                  onChange={(event) => setRole.mutate({ id: String(id), body: { role: event.currentTarget.value } })}
                />
              ) : (
                <HostileText text={role} />
              ),
          },
          {
            key: "actions",
            title: "Actions",
            isOnCard: true,
            cell: (member) => given.includes(member.role) && <MemberActions team={team} member={member} />,
          },
        ]}
      />
    </>
  );
}

type ActionsProps = { readonly team: Team; readonly member: TeamMember };

function MemberActions({ team, member: { id, username } }: ActionsProps) {
  const remove = useAction(teamRemoveMember, { changes: ["team"] });
  const handOver = useAction(teamTransfer, { changes: ["team", "account"] });
  return (
    <span className={classes["buttons"]}>
      {team.is_owner && (
        <RemoveButton
          action={handOver}
          input={{ body: { new_team_owner_id: id } }}
          verb="Hand over"
          what={`the team to ${username}`}
          loss="They own the team and its credit from then on, and you become a manager of it."
          asCommand={
            <AsCommand
              command={["team", "transfer", String(id)]}
              request={{ method: "PUT", path: "/api/v0/team/transfer/", body: { new_team_owner_id: id } }}
            />
          }
        />
      )}
      <RemoveButton
        action={remove}
        input={{ id: String(id) }}
        verb="Remove"
        what={username}
        loss="Their keys and sessions of the team end at once. SSH keys stay in the instances that have them."
        asCommand={
          <AsCommand
            command={["team", "remove", String(id)]}
            request={{ method: "DELETE", path: `/api/v0/team/members/${id}/` }}
          />
        }
      />
    </span>
  );
}

function Rename({ team }: { readonly team: Team }) {
  const [name, setName] = useState(team.team_name);
  const rename = useAction(teamUpdate, { changes: ["team", "account"] });
  const body = { team_name: name.trim() };
  return (
    <form
      className={classes["form"]}
      onSubmit={(event) => {
        event.preventDefault();
        rename.mutate({ body });
      }}
    >
      <TextInput
        label="Name of the team"
        maxLength={64}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
      />
      {rename.error !== null && <Failure error={rename.error} />}
      <div className={classes["buttons"]}>
        <Button type="submit" variant="default" loading={rename.isPending} disabled={body.team_name === team.team_name}>
          Rename
        </Button>
        <AsCommand
          command={["team", "rename", body.team_name]}
          request={{ method: "PUT", path: "/api/v0/team/", body }}
        />
      </div>
    </form>
  );
}
