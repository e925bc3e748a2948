import { answerOf, callerRefusal, narrowed, type AccessOf } from "../../../base/allowed-action.ts";
import type { Identity } from "../../../base/identity.ts";
import type { ShownMachine } from "./machine-service.ts";
import { refuseMachineDeletion } from "./rules/machine-refusals.ts";
import type { MachineRecord } from "./schema.ts";

type Actions = MachineRecord["allowed_actions"];

/** The actions that a machine accepts now. A request that would change nothing is not allowed either, as for instances. */
export function machineActions(
  { hosted, machine: { id }, rentals, job, hasVolumes }: ShownMachine,
  now: Date,
): Actions {
  const { hostId } = hosted;
  const hasEnded = rentals.some((rental) => rental.endAt <= now);
  return {
    list: answerOf(undefined),
    unlist: answerOf(hosted.isListed ? undefined : `Machine ${id} is not listed.`),
    set_default_job: answerOf(undefined),
    end_default_job: answerOf(job === undefined ? `Machine ${id} has no default job.` : undefined),
    schedule_maintenance: answerOf(undefined),
    clean_up: answerOf(hasEnded ? undefined : `No rental that has ended has data on machine ${id}.`),
    delete: answerOf(refuseMachineDeletion({ id, hostId }, { rentals, hasVolumes, now })),
  };
}

const PATH = "/api/v0/machines/1/";
const withId = (id: number) => ({ id });

/** Narrows the actions of machines to those that the caller's key may call. */
export function callerMachineActions(identity: Identity, accessOf: AccessOf): (record: MachineRecord) => MachineRecord {
  const refusal = (method: "PUT" | "POST" | "DELETE", path: string, parameters?: typeof withId) =>
    callerRefusal(identity, { method, path, ...(parameters === undefined ? {} : { parameters }) }, accessOf);
  const list = refusal("PUT", "/api/v0/machines/create_asks/");
  const unlist = refusal("DELETE", `${PATH}asks/`, withId);
  const setJob = refusal("PUT", "/api/v0/machines/create_bids/");
  const endJob = refusal("DELETE", `${PATH}defjob/`, withId);
  const maintenance = refusal("PUT", `${PATH}dnotify/`, withId);
  const cleanUp = refusal("PUT", `${PATH}cleanup/`, withId);
  const remove = refusal("POST", `${PATH}force_delete/`, withId);
  return ({ allowed_actions: own, ...record }) => ({
    ...record,
    allowed_actions: {
      list: narrowed(list(record.id), own.list),
      unlist: narrowed(unlist(record.id), own.unlist),
      set_default_job: narrowed(setJob(record.id), own.set_default_job),
      end_default_job: narrowed(endJob(record.id), own.end_default_job),
      schedule_maintenance: narrowed(maintenance(record.id), own.schedule_maintenance),
      clean_up: narrowed(cleanUp(record.id), own.clean_up),
      delete: narrowed(remove(record.id), own.delete),
    },
  });
}
