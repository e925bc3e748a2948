import { Button, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import {
  adminInvitationCreate,
  adminInvitationDelete,
  adminInvitationList,
  browserSettings,
  type AdminInvitationListResponse,
  type BrowserSettings,
} from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { ShownOnce } from "../../parts/ShownOnce.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import { useNow } from "../../ui/use-now.ts";
import { AccountLink } from "./links.tsx";
import classes from "./operate.module.css";

type Invitation = AdminInvitationListResponse["invitations"][number];

/** The way in which people get accounts here, by the setting of the operator. */
const SIGN_UP: Readonly<Record<BrowserSettings["sign_up"], string>> = {
  open: "Everybody can sign up here, with an invitation or without one.",
  invitation: "Only people with an invitation can sign up here.",
  sso: "Only single sign-on makes accounts here, so an invitation opens nothing.",
};

/** Invitations to sign up: the way in, those that were made, and another one. */
export function Invitations() {
  const settings = useQuery(askPlain("operator.sign_up", browserSettings));
  const invitations = useQuery(askPlain("operator.invitations", adminInvitationList));
  const [isInviting, inviting] = useDisclosure(false);
  const mode = settings.data?.sign_up;
  return (
    <>
      <PageHead
        title="Invitations"
        note={mode === undefined ? undefined : `${SIGN_UP[mode]} The setting is BERTH_SIGN_UP.`}
        actions={<Button onClick={inviting.open}>Invite somebody</Button>}
      />
      <Answer query={invitations}>{(answer) => <InvitationTable invitations={answer.invitations} />}</Answer>
      <Panel title="Invite somebody" isOpen={isInviting} onClose={inviting.close}>
        {isInviting && <InviteForm onClose={inviting.close} />}
      </Panel>
    </>
  );
}

function InviteForm({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState("");
  const invite = useAction(adminInvitationCreate, { changes: ["operator"] });
  const body = email.trim() === "" ? {} : { email: email.trim() };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    invite.mutate({ body });
  };
  return (
    <form className={classes["form"]} onSubmit={submit}>
      <TextInput
        label="E-mail address"
        description="The only address that may sign up with it. Without one, everybody who has the link may."
        type="email"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      <Button type="submit" loading={invite.isPending}>
        Make the invitation
      </Button>
      <AsCommand request={{ method: "POST", path: "/api/v0/admin/invitations/", body }} />
      {invite.error !== null && <Failure error={invite.error} />}
      <ShownOnce
        title="The invitation"
        note="Send this link to the person yourself. It is good once, within seven days, and shown only now."
        text={invite.data === undefined ? undefined : `${globalThis.location.origin}${invite.data.path}`}
        what="the link"
        onClose={onClose}
      />
    </form>
  );
}

function InvitationTable({ invitations }: { readonly invitations: readonly Invitation[] }) {
  const revoke = useAction(adminInvitationDelete, { changes: ["operator"] });
  const now = useNow();
  return (
    <DataTable
      label="Invitations"
      rows={invitations}
      keyOf={({ id }) => id}
      startSort={{ key: "id", isDescending: true }}
      empty={
        <EmptyState title="No invitations">
          An invitation lets one person sign up, also where the server is not open to everybody.
        </EmptyState>
      }
      columns={[
        { key: "id", title: "Invitation", isName: true, sortBy: ({ id }) => id, cell: ({ id }) => `Invitation ${id}` },
        {
          key: "for",
          title: "For",
          isOnCard: true,
          cell: ({ email }) => (email === null ? <span className="dim">anybody</span> : <HostileText text={email} />),
        },
        { key: "state", title: "State", isOnCard: true, cell: (row) => <StateBadge state={stateOf(row, now)} /> },
        {
          key: "account",
          title: "Account",
          cell: ({ user_id: id }) => (id === null ? <span className="dim">none yet</span> : <AccountLink id={id} />),
        },
        { key: "made", title: "Made", sortBy: (row) => row.created_at, cell: (row) => <Ago at={row.created_at} /> },
        { key: "ends", title: "Ends", isOnCard: true, cell: ({ expires_at: at }) => <Ago at={at} /> },
        {
          key: "actions",
          title: "Actions",
          isOnCard: true,
          cell: (row) =>
            stateOf(row, now) === OPEN && (
              <RemoveButton
                action={revoke}
                input={{ id: String(row.id) }}
                verb="Revoke"
                what={`invitation ${row.id}`}
                loss="Its link opens nothing any more."
                asCommand={<AsCommand request={{ method: "DELETE", path: `/api/v0/admin/invitations/${row.id}/` }} />}
              />
            ),
        },
      ]}
    />
  );
}

const OPEN = { word: "open", tone: "blue", icon: "dot" } as const;
const USED = { word: "used", tone: "green", icon: "check" } as const;
const OVER = { word: "over", tone: "grey", icon: "off" } as const;

function stateOf({ used_at: usedAt, expires_at: expiresAt }: Invitation, now: number) {
  if (usedAt !== null) return USED;
  return expiresAt <= now ? OVER : OPEN;
}
