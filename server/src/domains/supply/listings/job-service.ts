import { invalid, notFound } from "../../../base/errors.ts";
import type { MachineId } from "../../../base/ids.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { listHosted } from "../hosts/for-listings.ts";
import { lockMachines, requireRegistryOn } from "../hosts/index.ts";
import { keepBackground, listOutOfStep, removeBackground } from "../../rental/instances/for-listings.ts";
import { lockOwnMachine, notAuthorized, type HostRequest } from "./own-machine.ts";
import { deleteDefaultJob, listDefaultJobs, listMachinesWithJob, putDefaultJob, type DefaultJob } from "./store.ts";

const MACHINES_PER_PAGE = 200;
const REPAIRS_PER_RUN = 200;

/** Runs a job of the host on devices of a machine that nobody rents, from now on, in place of an earlier job. */
export async function setDefaultJob(
  tx: Tx,
  request: HostRequest,
  said: Omit<DefaultJob, "machineId">,
  encryption: Encryption,
): Promise<MachineId> {
  const { id, hostId } = await lockOwnMachine(tx, request, notAuthorized);
  await requireRegistryOn(tx.db, id, { image: said.image, field: "image" });
  await putDefaultJob(tx, { machineId: id, ...said }, encryption);
  const actor = `user:${hostId}` as const;
  const { kept, created, removed } = await keepBackground(tx, { machineId: id, job: said, actor, encryption });
  // Instances of an earlier job leave and make room for this one.
  if (kept + created + removed === 0)
    throw invalid("machine", `The disk of machine ${id} has no room for a default job.`);
  return id;
}

/** Ends the default job of a machine. */
export async function removeDefaultJob(tx: Tx, request: HostRequest): Promise<MachineId> {
  const { id, hostId } = await lockOwnMachine(tx, request);
  if (!(await deleteDefaultJob(tx, id))) {
    throw notFound("no_such_default_job", `Machine ${id} has no default job.`);
  }
  await removeBackground(tx, id, `user:${hostId}`);
  return id;
}

/**
 * Repairs jobs after events that no request handles: a device was added or removed, an instance was destroyed by its
 * host, disk space became free.
 */
export function defaultJobLoop({
  database,
  clock,
  encryption,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly encryption: Encryption;
}): Loop {
  // The last machine of the last run: machines that cannot be repaired, for lack of disk, must not hold up those after
  // them.
  let after = 0;
  return {
    name: "keep-default-jobs",
    description: "Keeps one background instance for each device of a machine with a default job.",
    everyMs: 60_000,
    run: async () => {
      const counts = { machines: 0, created: 0, removed: 0 };
      do {
        const ids = await listMachinesWithJob(database.kysely, after, MACHINES_PER_PAGE);
        after = ids.length < MACHINES_PER_PAGE ? 0 : (ids.at(-1) ?? 0);
        for (const id of await listOutOfStep(database.kysely, ids)) {
          const change = await withTransaction(database, clock, (tx) => keepJob(tx, id, encryption));
          counts.machines += 1;
          counts.created += change.created;
          counts.removed += change.removed;
        }
      } while (after !== 0 && counts.machines < REPAIRS_PER_RUN);
      return counts;
    },
  };
}

async function keepJob(tx: Tx, machineId: MachineId, encryption: Encryption) {
  await lockMachines(tx, [machineId]);
  const [machine] = await listHosted(tx.db, { ids: [machineId] });
  const job = (await listDefaultJobs(tx.db, [machineId], encryption)).get(machineId);
  if (machine === undefined || job === undefined) return { created: 0, removed: 0 };
  return keepBackground(tx, { machineId, job, actor: "rule", encryption });
}
