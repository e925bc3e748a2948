import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, sessionDelete, sessionList, type Client, type Session } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { askPlain } from "../../api/query.ts";
import { useSignOut } from "../../api/session.ts";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { Confirm } from "../../ui/Confirm.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

/** The server says 404 where there is none, as for a person who uses a key alone. */
async function listSessions(client: Client): Promise<readonly Session[]> {
  try {
    return (await sessionList(client)).sessions;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

/** Ends these sessions, one after the other. */
async function endEach(client: Client, ids: readonly number[]): Promise<void> {
  for (const id of ids) await sessionDelete(client, { body: { key_id: id } });
}

/** Browsers and programs that are signed in, and the way to end each. */
export function Sessions() {
  const sessions = useQuery(askPlain("account.sessions", listSessions));
  const others = (sessions.data ?? []).filter(({ is_current }) => !is_current).map(({ id }) => id);
  return (
    <>
      <PageHead
        title="Sessions"
        note="Browsers and programs that are signed in as you."
        actions={others.length > 0 && <EndOthers ids={others} />}
      />
      <Answer query={sessions}>{(answer) => <SessionTable sessions={answer} />}</Answer>
    </>
  );
}

function EndOthers({ ids }: { readonly ids: readonly number[] }) {
  const [isAsked, setAsked] = useState(false);
  const end = useAction(endEach, { changes: ["account"], onDone: () => setAsked(false) });
  return (
    <>
      <Button variant="default" onClick={() => setAsked(true)}>
        End all others
      </Button>
      <Confirm
        isOpen={isAsked}
        title="End all other sessions?"
        action="End them"
        loss="Everybody else who is signed in as you has to sign in again. API keys go on."
        isBusy={end.isPending}
        onConfirm={() => end.mutate(ids)}
        onClose={() => setAsked(false)}
      >
        {end.error !== null && <Failure error={end.error} />}
      </Confirm>
    </>
  );
}

/** The program and system of a session, as they call themselves. */
function deviceOf({ browser, system }: Session): string {
  if (browser !== null && system !== null) return `${browser} on ${system}`;
  return browser ?? (system === null ? "Unknown program" : `Unknown program on ${system}`);
}

function SessionTable({ sessions }: { readonly sessions: readonly Session[] }) {
  const end = useAction(sessionDelete, { changes: ["account"] });
  const signOut = useSignOut();
  return (
    <DataTable
      label="Sessions"
      rows={sessions}
      keyOf={({ id }) => id}
      startSort={{ key: "used", isDescending: true }}
      empty={<EmptyState title="No sessions">Sessions of browsers and of sign-ins by password stand here.</EmptyState>}
      columns={[
        {
          key: "name",
          title: "Session",
          isName: true,
          cell: (session) => (
            <>
              {deviceOf(session)} {session.is_current && <strong>· this one</strong>}
            </>
          ),
        },
        { key: "address", title: "From", isOnCard: true, cell: ({ last_ipaddr }) => <code>{last_ipaddr}</code> },
        {
          key: "used",
          title: "Last used",
          isOnCard: true,
          sortBy: ({ last_used_at }) => last_used_at,
          cell: ({ last_used_at }) => <Ago at={last_used_at} />,
        },
        { key: "id", title: "Number", sortBy: ({ id }) => id, cell: ({ id }) => id },
        { key: "proof", title: "Proof", cell: ({ has_tfa }) => (has_tfa ? "two factors" : "one factor") },
        {
          key: "opened",
          title: "Opened",
          sortBy: ({ created_at }) => created_at,
          cell: ({ created_at }) => <Ago at={created_at} />,
        },
        { key: "ends", title: "Ends", cell: ({ expires_at }) => <Ago at={expires_at} /> },
        {
          key: "actions",
          title: "Actions",
          isOnCard: true,
          cell: (session) =>
            session.is_current ? (
              <Button size="compact-xs" variant="default" loading={signOut.isPending} onClick={() => signOut.mutate()}>
                Sign out
              </Button>
            ) : (
              <RemoveButton
                action={end}
                input={{ body: { key_id: session.id } }}
                verb="End"
                what={`session ${session.id}, ${deviceOf(session)}`}
                loss="The browser or program that uses it has to sign in again."
                asCommand={
                  <AsCommand
                    request={{ method: "DELETE", path: "/api/v0/auth/sessions/", body: { key_id: session.id } }}
                  />
                }
              />
            ),
        },
      ]}
    />
  );
}
