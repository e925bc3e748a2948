import { Button, Group } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { adminMachineBackUp, adminMachineVerify, type FoundMachine } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { hourly } from "../../text/money.ts";
import { share } from "../../text/size.ts";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import { AccountLink } from "./links.tsx";
import { Facts } from "./Tiles.tsx";

type Props = { readonly machine: FoundMachine | undefined; readonly onClose: () => void };

/** One machine beside the list: its state, and acts of administrators on it. */
export function MachinePanel({ machine, onClose }: Props) {
  return (
    <Panel title={`Machine ${machine?.id ?? ""}`} isOpen={machine !== undefined} onClose={onClose}>
      {machine !== undefined && <Contents machine={machine} />}
    </Panel>
  );
}

function Contents({ machine }: { readonly machine: FoundMachine }) {
  return (
    <>
      <Facts
        facts={[
          ["Name", <HostileText key="name" text={machine.hostname} />],
          ["Host", <AccountLink key="host" id={machine.host_id} name={machine.host_email} />],
          ["Place it declares", <HostileText key="place" text={machine.geolocation} />],
          ["GPUs", <HostileText key="gpus" text={`${machine.gpu_count}× ${machine.gpu_name}`} />],
          ["Rented", machine.rented_count],
          ["Sick or missing", machine.sick_count + machine.absent_count],
          ["Price", `${hourly(machine.price_gpu)} for a GPU`],
          ["Reliability", share(machine.reliability)],
          ["Can be rented until", <Ago key="end" at={machine.end_at} />],
          ["Rests until", machine.rests_until === null ? "–" : <Ago key="rest" at={machine.rests_until} />],
          ["Agent", <HostileText key="agent" text={machine.agent_version} />],
          ["Last seen", <Ago key="seen" at={machine.last_seen_at} />],
          ["Joined", <Ago key="joined" at={machine.created_at} />],
          ["Open flags", <Flags key="flags" machine={machine} />],
          ["Reports of renters", machine.report_count],
          [
            "Instances",
            <Link key="instances" to="/operate/instances" search={{ machine: machine.id }}>
              Show them
            </Link>,
          ],
        ]}
      />
      <Verification machine={machine} />
      <BackUp id={machine.id} />
    </>
  );
}

function Flags({ machine: { flag_count: flagCount } }: { readonly machine: FoundMachine }) {
  return flagCount === 0 ? <>0</> : <Link to="/operate/reports">{flagCount}</Link>;
}

const VERDICTS = [
  ["verified", "Verify"],
  ["unverified", "Take it back"],
  ["automatic", "Let the rule decide"],
] as const;

function Verification({ machine: { id, verification } }: { readonly machine: FoundMachine }) {
  const verify = useAction(adminMachineVerify, { changes: ["operator", "machine", "offer"] });
  return (
    <Section title="Verification">
      <p style={{ margin: "0 0 8px" }}>
        <StateBadge state={verification} />
        {verify.data !== undefined && <span className="dim"> decided by {verify.data.decided_by}</span>}
      </p>
      <Group gap={8}>
        {VERDICTS.map(([verdict, label]) => (
          <Button
            key={verdict}
            variant="default"
            loading={verify.isPending && verify.variables.body?.verification === verdict}
            onClick={() => verify.mutate({ id: String(id), body: { verification: verdict } })}
          >
            {label}
          </Button>
        ))}
      </Group>
      <p style={{ margin: "8px 0 0" }}>
        <AsCommand
          command={["admin", "verify-machine", String(id), "verified"]}
          request={{
            method: "PUT",
            path: `/api/v0/admin/machines/${id}/verification/`,
            body: { verification: "verified" },
          }}
        />
      </p>
      {verify.error !== null && <Failure error={verify.error} />}
    </Section>
  );
}

function BackUp({ id }: { readonly id: number }) {
  const backUp = useAction(adminMachineBackUp, { changes: ["operator"] });
  return (
    <Section title="Backups">
      <p className="dim" style={{ margin: "0 0 8px" }}>
        Copies the data of all instances and volumes on the machine to the backups of the server.
      </p>
      <Button variant="default" loading={backUp.isPending} onClick={() => backUp.mutate({ id })}>
        Back up what is on it
      </Button>
      {backUp.data !== undefined && <p role="status">{backUp.data.msg}</p>}
      <p style={{ margin: "8px 0 0" }}>
        <AsCommand
          command={["admin", "back-up-machine", String(id)]}
          request={{ method: "POST", path: `/api/v0/admin/machines/${id}/backups/` }}
        />
      </p>
      {backUp.error !== null && <Failure error={backUp.error} />}
    </Section>
  );
}
