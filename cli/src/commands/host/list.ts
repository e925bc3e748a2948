import { hostList, type HostListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Credential = HostListAnswer["credentials"][number];
type Row = { readonly credential: Credential; readonly machine: Credential["machines"][number] | undefined };

const COLUMNS: readonly Column<Row>[] = [
  { title: "CREDENTIAL", cell: ({ credential }) => credential.id },
  { title: "NAME", cell: ({ credential }) => credential.name },
  { title: "MACHINE", cell: ({ machine }) => machine?.id },
  { title: "HOSTNAME", cell: ({ machine }) => machine?.hostname },
  { title: "STATE", cell: stateOf },
  { title: "AGENT", cell: ({ machine }) => machine?.agent_version },
  { title: "NOTE", cell: noteOf },
];

export async function listHosts(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await hostList(connect(options));
  const emptyText = "No machine has joined. Let one: berth host token create";
  printAnswer(answer, options, ({ credentials }) => renderTable(credentials.flatMap(rowsOf), COLUMNS, emptyText));
}

function rowsOf(credential: Credential): readonly Row[] {
  const { machines } = credential;
  return machines.length === 0
    ? [{ credential, machine: undefined }]
    : machines.map((machine) => ({ credential, machine }));
}

function stateOf({ credential, machine }: Row): string {
  if (credential.revoked_at !== null) return "revoked";
  if (machine === undefined) return "joined";
  return machine.is_connected ? "connected" : `away since ${dateText(machine.last_seen_at)}`;
}

function noteOf({ credential, machine }: Row): string {
  const cloned = machine?.clone_noticed_at ?? null;
  return [
    credential.is_own_agent ? "the server's own agent" : "",
    machine?.is_simulated === true ? "simulated" : "",
    ...(machine?.gpu_problems ?? []),
    machine?.agent_update === null || machine === undefined ? "" : `update to ${machine.agent_update}`,
    cloned === null ? "" : `a copy of its credential was refused ${dateText(cloned)}`,
  ]
    .filter((text) => text !== "")
    .join("; ");
}
