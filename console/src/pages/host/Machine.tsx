import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import { lazyPart } from "../../code.ts";
import { machineDeleteAsks, type Machine as Record } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { MachineListing } from "../../forms/host/machine-list.tsx";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { reasonOf } from "../../parts/reason.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import { useNow } from "../../ui/use-now.ts";
import { Waiting } from "../../ui/Waiting.tsx";
import classes from "./host.module.css";
import { hardwareOf, machineQuery, stateOf } from "./machine.ts";
import { MachineGpus } from "./MachineGpus.tsx";
import { MachineMaintenance } from "./MachineMaintenance.tsx";
import { MachineOrder } from "./MachineOrder.tsx";
import { MachinePrice } from "./MachinePrice.tsx";
import { MachineReliabilityFacts, MachineReportList, MachineVerificationChecks } from "./MachineTrust.tsx";

const route = getRouteApi("/frame/host/machines/$id");
const Graphs = lazyPart(() => import("./MachineGraphs.tsx"), "MachineGraphs");
const DayEarnings = lazyPart(() => import("./EarningsByDay.tsx"), "EarningsByDay");

/** One machine of the host. */
export function Machine() {
  const { id } = route.useParams();
  const machines = useQuery(machineQuery(Number(id)));
  return (
    <Answer query={machines} rows={12}>
      {([machine]) => (machine === undefined ? <Gone id={id} /> : <Shown machine={machine} />)}
    </Answer>
  );
}

function Shown({ machine }: { readonly machine: Record }) {
  const now = useNow();
  const { id, hostname } = machine;
  const { state, sentence } = stateOf(machine, now);
  return (
    <>
      <PageHead
        title={<HostileText text={`Machine ${id}${hostname === null ? "" : ` ${hostname}`}`} />}
        note={
          <>
            <StateBadge state={state} sentence={sentence} isSentenceShown /> <HostileText text={hardwareOf(machine)} />
            {machine.is_simulated && " · simulated: nothing runs on a real machine"}
          </>
        }
        actions={<Listing machine={machine} />}
      />
      <Section title="GPUs">
        <MachineGpus machine={machine} />
      </Section>
      <Section title="Earnings">
        <Suspense fallback={<Waiting rows={5} />}>
          <DayEarnings machine={id} days={30} />
        </Suspense>
      </Section>
      <div className={classes["columns"]}>
        <Section title="Price">
          <MachinePrice machine={machine} />
        </Section>
        <Section title="Verification">
          <MachineVerificationChecks id={String(id)} />
        </Section>
      </div>
      <Section title="Use">
        <Suspense fallback={<Waiting rows={8} />}>
          <Graphs id={id} />
        </Suspense>
      </Section>
      <div className={classes["columns"]}>
        <Section title="Reliability">
          <MachineReliabilityFacts id={String(id)} />
        </Section>
        <Section title="Reports">
          <MachineReportList id={id} />
        </Section>
      </div>
      <MachineMaintenance machine={machine} />
      <MachineOrder machine={machine} />
    </>
  );
}

function Listing({ machine }: { readonly machine: Record }) {
  const [isOpen, setOpen] = useState(false);
  const unlist = useAction(machineDeleteAsks, { changes: ["machine", "offer"] });
  const { id, listed, allowed_actions: allowed } = machine;
  return (
    <>
      {listed && (
        <RemoveButton
          reason={reasonOf(allowed.unlist)}
          action={unlist}
          input={{ id }}
          verb="Unlist"
          what={`machine ${id}`}
          loss="Nobody new can rent it. Present renters stay until the agreed end."
          asCommand={
            <AsCommand
              command={["machine", "unlist", String(id)]}
              request={{ method: "DELETE", path: `/api/v0/machines/${id}/asks/` }}
            />
          }
        />
      )}
      <ActionButton variant="filled" onClick={() => setOpen(true)} reason={reasonOf(allowed.list)}>
        {listed ? "Change prices" : "List it"}
      </ActionButton>
      <Panel title={`Listing of machine ${id}`} isOpen={isOpen} onClose={() => setOpen(false)}>
        <MachineListing machine={machine} onDone={() => setOpen(false)} />
      </Panel>
    </>
  );
}

function Gone({ id }: { readonly id: string }) {
  return (
    <>
      <PageHead title={`Machine ${id}`} />
      <EmptyState title={`There is no machine ${id}`}>
        It was deleted, or it belongs to another account. <Link to="/host/machines">All your machines</Link>.
      </EmptyState>
    </>
  );
}
