import type { MachineListAnswer, MachineMaintenancesAnswer } from "../../../../sdk/src/operations.ts";
import { dateText } from "../../time-text.ts";

type Machine = MachineListAnswer["machines"][number];

/** The word for a machine that can be rented now, or the reason why it cannot. */
export function stateText(machine: Pick<Machine, "is_online" | "listed" | "rests_until" | "rentable">): string {
  if (!machine.is_online) return "away";
  if (!machine.listed) return "unlisted";
  if (machine.rests_until !== null) return `rests until ${dateText(machine.rests_until)}`;
  return machine.rentable ? "on offer" : "full";
}

/** Rented GPUs out of all: `2/4`; cores on a machine without GPUs. */
export function rentedText({ rented_devices: rented, num_gpus: gpus, cpu_cores: cores }: Machine): string {
  return `${rented}/${gpus === 0 ? cores : gpus}`;
}

/** A maintenance in words: `2026-01-31 12:00, 3 h, power: new supply`. */
export function maintenanceText(maintenance: MachineMaintenancesAnswer[number]): string {
  const { start_time: start, duration_hours: hours } = maintenance;
  const { maintenance_category: category, maintenance_reason: reason } = maintenance;
  const why = [category === "not provided" ? "" : category, reason].filter((text) => text !== "").join(": ");
  return [`${dateText(start)} UTC`, `${hours} h`, why].filter((text) => text !== "").join(", ");
}
