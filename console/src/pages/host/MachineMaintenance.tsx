import { useState } from "react";
import { machineCancelOneMaintenance, type Machine } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { MaintenanceSchedule } from "../../forms/host/maintenance-schedule.tsx";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { reasonOf } from "../../parts/reason.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { RemoveButton } from "../../parts/RemoveButton.tsx";
import { duration, utcTime } from "../../text/time.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago, Moment } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";

/** Maintenances that are announced to renters of a machine. */
export function MachineMaintenance({ machine }: { readonly machine: Machine }) {
  const [isOpen, setOpen] = useState(false);
  const cancel = useAction(machineCancelOneMaintenance, { changes: ["machine"] });
  return (
    <Section
      title="Maintenance"
      actions={
        <ActionButton onClick={() => setOpen(true)} reason={reasonOf(machine.allowed_actions.schedule_maintenance)}>
          Schedule a maintenance
        </ActionButton>
      }
    >
      <DataTable
        label="Maintenances"
        rows={machine.maintenance}
        keyOf={({ id }) => id}
        empty={
          <EmptyState title="No maintenance is announced">
            Renters are told of one at once. It stops nothing by itself.
          </EmptyState>
        }
        columns={[
          { key: "from", title: "From", isName: true, cell: ({ start_time: at }) => <Moment at={at} /> },
          { key: "in", title: "Begins", isOnCard: true, cell: ({ start_time: at }) => <Ago at={at} /> },
          {
            key: "for",
            title: "Lasts",
            isOnCard: true,
            cell: ({ start_time: start, end_time: end }) => duration(end - start),
          },
          {
            key: "why",
            title: "Why",
            cell: ({ maintenance_category: category, maintenance_reason: reason }) => (
              <HostileText text={reason === "" ? category : `${category}: ${reason}`} />
            ),
          },
          {
            key: "actions",
            title: "Actions",
            isOnCard: true,
            cell: ({ id, start_time: at }) => (
              <RemoveButton
                action={cancel}
                input={{ body: { maintenance_id: id } }}
                verb="Cancel"
                what={`the maintenance of ${utcTime(at)}`}
                loss="Renters are told that it does not take place."
                asCommand={
                  <AsCommand
                    request={{
                      method: "DELETE",
                      path: "/api/v0/machines/maintenances/",
                      body: { maintenance_id: id },
                    }}
                  />
                }
              />
            ),
          },
        ]}
      />
      <Panel title={`Maintenance of machine ${machine.id}`} isOpen={isOpen} onClose={() => setOpen(false)}>
        <MaintenanceSchedule machine={machine.id} onDone={() => setOpen(false)} />
      </Panel>
    </Section>
  );
}
