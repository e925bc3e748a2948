import { Button, NumberInput, Select, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { machineScheduleMaintenance, type MachineScheduleMaintenanceRequest } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import classes from "../../pages/host/host.module.css";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";

type Category = NonNullable<MachineScheduleMaintenanceRequest["maintenance_category"]>;

const CATEGORIES: readonly Category[] = ["power", "internet", "disk", "gpu", "software", "other"];

/** Announces a maintenance to all renters of a machine. Times are UTC. */
export function MaintenanceSchedule({ machine, onDone }: { readonly machine: number; readonly onDone: () => void }) {
  const [at, setAt] = useState("");
  const [hours, setHours] = useState<number | string>(1);
  const [category, setCategory] = useState<string>("software");
  const [reason, setReason] = useState("");
  const schedule = useAction(machineScheduleMaintenance, { changes: ["machine"], onDone });
  const body: MachineScheduleMaintenanceRequest = {
    sdate: `${at}:00Z`,
    duration: Number(hours),
    maintenance_category: CATEGORIES.find((one) => one === category) ?? "other",
    ...(reason.trim() === "" ? {} : { maintenance_reason: reason.trim() }),
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    schedule.mutate({ id: machine, body });
  };
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <p className="dim">
        Every renter of the machine is told at once. Nothing is stopped, and the machine stays on offer: stop programs
        on it yourself when the time has come.
      </p>
      <TextInput
        type="datetime-local"
        label="Begins (UTC)"
        value={at}
        onChange={(event) => setAt(event.currentTarget.value)}
        required
      />
      <NumberInput label="Lasts, in hours" min={0.1} max={720} value={hours} onChange={setHours} required />
      <Select
        label="What is worked on"
        data={CATEGORIES}
        value={category}
        onChange={(value) => setCategory(value ?? "other")}
        allowDeselect={false}
      />
      <TextInput
        label="Reason"
        description="A sentence for renters."
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      {schedule.error !== null && <Failure error={schedule.error} />}
      <div className={classes["buttons"]}>
        <Button type="submit" variant="filled" loading={schedule.isPending}>
          Announce it
        </Button>
        <AsCommand
          command={["machine", "maintenance", "schedule", String(machine), "--at", at, "--hours", String(hours)]}
          request={{ method: "PUT", path: `/api/v0/machines/${machine}/dnotify/`, body }}
        />
      </div>
    </form>
  );
}
