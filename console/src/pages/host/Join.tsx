import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import {
  hostList,
  hostTokenCreate,
  hostTokenDelete,
  hostTokenList,
  type JoinedMachine,
  type JoinToken,
} from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import type { StateWord } from "../../text/states.ts";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import classes from "./host.module.css";
import { hardwareOf, machinesQuery } from "./machine.ts";
import { Checks, verificationQuery } from "./MachineTrust.tsx";

const route = getRouteApi("/frame/host/join");
/** A token that was used makes no event before its machine has connected, so progress is asked for this often. */
const ASK_MS = 3_000;

const DONE: StateWord = { word: "done", tone: "green", icon: "check" };
const WAITS: StateWord = { word: "waiting", tone: "grey", icon: "clock" };
const UNDER_WAY: StateWord = { word: "under way", tone: "blue", icon: "bar" };

/** Makes a token, shows the one command that joins a machine, and follows the machine until it is on the market. */
export function Join() {
  const { token: id } = route.useSearch();
  const navigate = route.useNavigate();
  const [made, setMade] = useState<{ readonly id: number; readonly token: string }>();
  const tokens = useQuery({ ...askPlain("host.tokens", hostTokenList), refetchInterval: ASK_MS });
  return (
    <>
      <PageHead
        title="Join a machine"
        note="One command makes a machine a host. It is on the market at once, at a price that follows from its GPUs."
      />
      <MakeToken
        onMade={(token) => {
          setMade(token);
          void navigate({ search: { token: token.id } });
        }}
      />
      {made !== undefined && made.id === id && <Command token={made.token} />}
      <Answer query={tokens}>
        {({ tokens: rows }) => {
          const followed = rows.find((one) => one.id === id);
          return (
            <>
              {followed !== undefined && <Progress token={followed} />}
              <Tokens tokens={rows} />
            </>
          );
        }}
      </Answer>
    </>
  );
}

function MakeToken({ onMade }: { readonly onMade: (token: { readonly id: number; readonly token: string }) => void }) {
  const [name, setName] = useState("");
  const make = useAction(hostTokenCreate, { changes: ["host"], onDone: onMade });
  const body = name.trim() === "" ? {} : { name: name.trim() };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate({ body });
  };
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <TextInput
        label="Name of the token"
        description="It tells your tokens apart; you may leave it out."
        maw={480}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {make.error !== null && <Failure error={make.error} onRetry={() => make.mutate({ body })} />}
      <div className={classes["buttons"]}>
        <Button type="submit" variant="filled" loading={make.isPending}>
          Make a token
        </Button>
        <AsCommand
          command={["host", "token", "create", ...(body.name === undefined ? [] : ["--name", body.name])]}
          request={{ method: "POST", path: "/api/v0/hosts/tokens/", body }}
        />
      </div>
    </form>
  );
}

function Command({ token }: { readonly token: string }) {
  const command = `./berth agent --server ${globalThis.location.origin} --token ${token}`;
  return (
    <Section title="On the other machine">
      <p>Unpack Berth there, and run this as root. The token lets one machine join, once, and is not shown again.</p>
      <div className={classes["command"]}>
        <code>{command}</code>
        <CopyButton text={command} what="the command" />
      </div>
    </Section>
  );
}

/** The way of a machine to the market, as far as the server knows it. */
function Progress({ token }: { readonly token: JoinToken }) {
  const credentials = useQuery({ ...askPlain("host.credentials", hostList), refetchInterval: ASK_MS });
  const credential = credentials.data?.credentials.find((one) => one.id === token.credential_id);
  const machine = credential?.machines[0];
  return (
    <Section title="Progress">
      <ul className={classes["checks"]} aria-live="polite" aria-label="Progress">
        <Step name="Connected" state={machine?.is_connected === true ? DONE : WAITS}>
          <Connected token={token} machine={machine} />
        </Step>
        {machine === undefined ? (
          <>
            <Step name="Inventory" state={WAITS} />
            <Step name="Tests" state={WAITS} />
            <Step name="Listed" state={WAITS} />
          </>
        ) : (
          <AfterConnecting id={machine.id} />
        )}
      </ul>
    </Section>
  );
}

function Connected({ token, machine }: { readonly token: JoinToken; readonly machine: JoinedMachine | undefined }) {
  if (machine !== undefined) {
    return (
      <>
        as <HostileText text={machine.hostname} />, machine {machine.id}
      </>
    );
  }
  if (token.used_at !== null) {
    return (
      <>
        the token was used <Ago at={token.used_at} />; its agent has not connected yet
      </>
    );
  }
  return (
    <>
      the token waits for a machine; it ends <Ago at={token.expires_at} />
    </>
  );
}

function AfterConnecting({ id }: { readonly id: number }) {
  const machines = useQuery({ ...machinesQuery, refetchInterval: ASK_MS });
  const verification = useQuery({ ...verificationQuery(String(id)), refetchInterval: ASK_MS });
  const machine = machines.data?.machines.find((one) => one.id === id);
  const checks = verification.data?.checks ?? [];
  const passed = checks.filter((check) => check.passed).length;
  const isVerified = verification.data?.verification === "verified";
  return (
    <>
      <Step name="Inventory" state={machine === undefined ? UNDER_WAY : DONE}>
        {machine !== undefined && (
          <HostileText
            text={`${hardwareOf(machine)}, ${machine.cpu_cores} cores, ${Math.round(machine.disk_space)} GB of disk`}
          />
        )}
      </Step>
      <Step name="Tests" state={isVerified ? DONE : UNDER_WAY}>
        {verification.data === undefined ? "not asked yet" : `${passed} of ${checks.length} checks passed`}
        {!isVerified && <Checks checks={checks.filter((check) => !check.passed)} />}
      </Step>
      <Step name="Listed" state={machine?.listed === true ? DONE : WAITS}>
        <Link to="/host/machines/$id" params={{ id: String(id) }}>
          Prices and terms of machine {id}
        </Link>
      </Step>
    </>
  );
}

function Step({
  name,
  state,
  children,
}: {
  readonly name: string;
  readonly state: StateWord;
  readonly children?: ReactNode;
}) {
  return (
    <li>
      <StateBadge state={state} />
      <div>
        <b>{name}</b> {children}
      </div>
    </li>
  );
}

function Tokens({ tokens }: { readonly tokens: readonly JoinToken[] }) {
  const remove = useAction(hostTokenDelete, { changes: ["host"] });
  return (
    <Section title="Tokens">
      <DataTable
        label="Tokens"
        rows={tokens}
        keyOf={({ id }) => id}
        startSort={{ key: "id", isDescending: true }}
        empty={<EmptyState title="No tokens">Each token lets one machine join, within a day.</EmptyState>}
        columns={[
          {
            key: "id",
            title: "Token",
            isName: true,
            sortBy: ({ id }) => id,
            cell: ({ id, name }) => (
              <Link to="/host/join" search={{ token: id }}>
                <span className="mono">{id}</span> <HostileText text={name} />
              </Link>
            ),
          },
          { key: "made", title: "Made", isOnCard: true, cell: ({ created_at: at }) => <Ago at={at} /> },
          {
            key: "used",
            title: "Used",
            isOnCard: true,
            cell: ({ used_at: at }) => (at === null ? <span className="dim">not yet</span> : <Ago at={at} />),
          },
          { key: "ends", title: "Ends", cell: ({ expires_at: at }) => <Ago at={at} /> },
          {
            key: "actions",
            title: "Actions",
            isOnCard: true,
            cell: ({ id }) => (
              <RemoveButton
                action={remove}
                input={{ id: String(id) }}
                what={`token ${id}`}
                loss="Nobody can join with it any more. A machine that has joined stays."
                asCommand={
                  <AsCommand
                    command={["host", "token", "delete", String(id)]}
                    request={{ method: "DELETE", path: `/api/v0/hosts/tokens/${id}/` }}
                  />
                }
              />
            ),
          },
        ]}
      />
    </Section>
  );
}
