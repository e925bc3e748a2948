import type { Clock } from "../../../../base/clock.ts";
import type { MachineId } from "../../../../base/ids.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import type { Loop } from "../../../../base/loop-driver.ts";
import { listDueReviews, listMachinesWithExpiredLease } from "../../../supply/hosts/for-instances.ts";
import { lockMachines } from "../../../supply/hosts/index.ts";
import type { Instance } from "../instance.ts";
import type { LifecycleEvent } from "./rules/lifecycle.ts";
import { freeProxyPorts } from "../access/proxy-port-store.ts";
import { recordOverdueStarts } from "./start-record-service.ts";
import { listEndedRentals, listLeavingOn, listOverdue, lockInstances } from "../store.ts";
import { applyHappenings, reschedule, type Happening } from "./transitions.ts";

const ROWS_PER_RUN = 500;
const ROUNDS_PER_RUN = 20;

type Deps = { readonly database: Database; readonly clock: Clock };
type Found = { readonly id: Happening["instance"]["id"]; readonly machineId: MachineId };

/**
 * Loops that act without a user: they free what a lost host still held, end phases that last too long and rentals past
 * their end date.
 */
export function instanceLoops({ database, clock }: Deps): readonly Loop[] {
  return [
    {
      name: "release-lost-hosts",
      description:
        "Frees the devices of instances that were leaving, on hosts whose agents have certainly stopped everything.",
      everyMs: 10_000,
      run: () =>
        withTransaction(database, clock, async (tx) => {
          const awayIds = await listMachinesWithExpiredLease(tx.db, tx.now, ROWS_PER_RUN);
          await lockMachines(tx, awayIds);
          // A host that reconnected meanwhile has its heartbeat lease again.
          const machineIds = await listMachinesWithExpiredLease(tx.db, tx.now, ROWS_PER_RUN);
          const lostIds = machineIds.filter((id) => awayIds.includes(id));
          const found = lostIds.length === 0 ? [] : await listLeavingOn(tx.db, lostIds);
          return { machines: lostIds.length, released: await happen(tx, found, "hostLost", "host_lost") };
        }),
    },
    {
      name: "enforce-deadlines",
      description: "Ends phases of instances that lasted too long.",
      everyMs: 1_000,
      run: async () => ({
        overdue: await inRounds(() =>
          withTransaction(database, clock, async (tx) => {
            const overdue = await listOverdue(tx.db, tx.now, ROWS_PER_RUN);
            return happen(tx, overdue, "deadlinePassed", "deadline_passed");
          }),
        ),
      }),
    },
    {
      name: "review-schedules",
      description: "Reviews the schedules of machines on which a minimum slice has ended.",
      everyMs: 1_000,
      run: async () => ({
        reviewed: await inRounds(() =>
          withTransaction(database, clock, async (tx) => {
            const found = await listDueReviews(tx.db, tx.now, ROWS_PER_RUN);
            await lockMachines(tx, found);
            // A machine that another process reviewed meanwhile is not due any more.
            const dueIds = (await listDueReviews(tx.db, tx.now, ROWS_PER_RUN)).filter((id) => found.includes(id));
            await reschedule(tx, dueIds);
            return dueIds.length;
          }),
        ),
      }),
    },
    {
      name: "end-contracts",
      description: "Stops instances whose rental has reached its end date.",
      everyMs: 30_000,
      run: () =>
        withTransaction(database, clock, async (tx) => {
          const ended = await listEndedRentals(tx.db, tx.now, ROWS_PER_RUN);
          return { stopped: await happen(tx, ended, "stopRequested", "contract_ended") };
        }),
    },
    {
      name: "free-proxy-ports",
      description: "Frees the proxy ports of instances that have ended.",
      everyMs: 10_000,
      run: () => withTransaction(database, clock, async (tx) => ({ freed: await freeProxyPorts(tx) })),
    },
  ];
}

/** Repeats full rounds, so that thousands of eviction notices that end together do not wait for the next run. */
async function inRounds(round: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let count = 1; count <= ROUNDS_PER_RUN; count += 1) {
    const done = await round();
    total += done;
    if (done < ROWS_PER_RUN) break;
  }
  return total;
}

async function happen(tx: Tx, found: readonly Found[], event: LifecycleEvent, cause: string): Promise<number> {
  await lockMachines(
    tx,
    [...new Set(found.map((row) => row.machineId))].toSorted((a, b) => a - b),
  );
  const instances = await lockInstances(
    tx,
    found.map((row) => row.id),
  );
  const due = instances.filter((instance) => isStillDue(instance, event, tx.now));
  if (event === "deadlinePassed") await recordOverdueStarts(tx, due);
  const happenings = due.map((instance): Happening => {
    // An instance that failed to start, or whose rental has ended, should not run any more.
    const isGivenUp = event === "stopRequested" || (event === "deadlinePassed" && instance.phase === "starting");
    return { instance, event, actor: "rule", cause, ...(isGivenUp ? { desired: "stopped" as const } : {}) };
  });
  await applyHappenings(tx, happenings);
  return happenings.length;
}

/** False when the instance moved on between its search and its lock. */
function isStillDue({ deadlineAt, endAt, desired }: Instance, event: LifecycleEvent, now: Date): boolean {
  if (event === "deadlinePassed") return deadlineAt !== undefined && deadlineAt < now;
  return event !== "stopRequested" || (endAt < now && desired === "running");
}
