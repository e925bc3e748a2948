import { machineList, machineShow, type Machine } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import type { StateWord } from "../../text/states.ts";
import { duration, localTime } from "../../text/time.ts";

export const DAY_S = 86_400;

/** The query of all own machines, which several pages share. */
export const machinesQuery = ask("machine.list", machineList, {});

export function machineQuery(id: number) {
  return ask("machine.show", machineShow, { id });
}

/** `2x RTX 4090`, or the processor of a machine without GPUs. */
export function hardwareOf({ num_gpus: gpus, gpu_name: name, cpu_name: processor }: Machine): string {
  return gpus === 0 ? processor : `${gpus}× ${name}`;
}

/** GPUs by what they do now; cores of a machine without GPUs are not told apart. */
export function occupancyOf({ num_gpus: all, rented_devices: rented, gpu_problems: problems }: Machine) {
  const sick = Math.min(all, problems.length);
  return { rented, sick, free: Math.max(0, all - rented - sick) };
}

type State = { readonly state: StateWord; readonly sentence: string };

/** The state of a machine for its host, in a word and a sentence. */
export function stateOf(machine: Machine, now: number): State {
  if (!machine.is_online) {
    const sentence = `Its agent has not been heard of for ${duration(Math.max(machine.timeout, now - machine.last_seen))}.`;
    return { state: { word: "offline", tone: "red", icon: "off" }, sentence };
  }
  if (machine.rests_until !== null) {
    const why = machine.error_description === null ? "" : ` ${machine.error_description}`;
    const sentence = `Nobody new can rent it until ${localTime(machine.rests_until)}.${why}`;
    return { state: { word: "resting", tone: "amber", icon: "clock" }, sentence };
  }
  if (!machine.listed) {
    return { state: { word: "not listed", tone: "grey", icon: "stop" }, sentence: "Nobody new can rent it." };
  }
  if (machine.rented_devices > 0) {
    const sentence = `${machine.rented_devices} of ${machine.num_gpus || machine.cpu_cores} rented.`;
    return { state: { word: "rented", tone: "green", icon: "dot" }, sentence };
  }
  return { state: { word: "listed", tone: "green", icon: "dot" }, sentence: "On the market, and nobody rents it." };
}
