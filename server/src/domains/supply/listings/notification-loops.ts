import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { takeEndingListings, takeLostMachines, takeReturnedMachines, type ToldMachine } from "../hosts/for-listings.ts";
import { listRentals } from "../../rental/instances/index.ts";
import { takeEndingRentals } from "../../rental/instances/for-listings.ts";
import { postNotifications, type Notification } from "../../notifications/index.ts";

const ROWS_PER_RUN = 500;
const HOUR_MS = 3_600_000;
/** How long before the end of a rental its renter is notified. */
const RENTAL_AHEAD_MS = 24 * HOUR_MS;
const LISTING_AHEAD_MS = 7 * 24 * HOUR_MS;

type Deps = { readonly database: Database; readonly clock: Clock };

/**
 * Notifies hosts and renters of events that time alone causes: machines that are lost or back, and ends that come near.
 */
export function hostingNotificationLoops({ database, clock }: Deps): readonly Loop[] {
  return [
    {
      name: "tell-lost-machines",
      description: "Notifies hosts and renters of machines that are lost or back.",
      everyMs: 10_000,
      run: async () => ({
        lost: await withTransaction(database, clock, tellLost),
        back: await withTransaction(database, clock, tellBack),
      }),
    },
    {
      name: "tell-ends",
      description: "Notifies renters of rentals that end within a day, and hosts of listings that end within a week.",
      everyMs: 60_000,
      run: async () => ({
        contracts: await withTransaction(database, clock, tellEndingRentals),
        listings: await withTransaction(database, clock, tellEndingListings),
      }),
    },
  ];
}

async function tellLost(tx: Tx): Promise<number> {
  const machines = await takeLostMachines(tx, ROWS_PER_RUN);
  await tellBoth(tx, machines, {
    ofMachine: ({ id, at }) => ({
      kind: "host:machine_offline",
      subject: `Machine ${id} is offline`,
      message: `Machine ${id} was last heard at ${textOf(at)}. It is off the market, and nothing on it is charged, until it is back.`,
    }),
    ofInstance: ({ at }, instanceId) => ({
      kind: "client:instance_offline",
      subject: `Instance ${instanceId} is offline`,
      message: `The host of instance ${instanceId} was last heard at ${textOf(at)}. The time since then is not charged.`,
    }),
  });
  return machines.length;
}

async function tellBack(tx: Tx): Promise<number> {
  const machines = await takeReturnedMachines(tx, ROWS_PER_RUN);
  await tellBoth(tx, machines, {
    ofMachine: ({ id, at }) => ({
      kind: "host:machine_online",
      subject: `Machine ${id} is back`,
      message: `Machine ${id} is connected again. It had last been heard at ${textOf(at)}.`,
    }),
    ofInstance: (_machine, instanceId) => ({
      kind: "client:instance_online",
      subject: `The host of instance ${instanceId} is back`,
      message: `The host of instance ${instanceId} is connected again.`,
    }),
  });
  return machines.length;
}

type Text = Pick<Notification, "kind" | "subject" | "message">;

/** Notifies the hosts of these machines and the renters on them. */
async function tellBoth(
  tx: Tx,
  machines: readonly ToldMachine[],
  says: {
    readonly ofMachine: (machine: ToldMachine) => Text;
    readonly ofInstance: (machine: ToldMachine, instanceId: number) => Text;
  },
): Promise<void> {
  if (machines.length === 0) return;
  const byId = new Map(machines.map((machine) => [machine.id, machine]));
  const rentals = await listRentals(tx.db, [...byId.keys()]);
  const toHosts = machines.map((machine) => {
    const text = says.ofMachine(machine);
    return { ...text, userId: machine.hostId, key: keyOf(text, machine.id, machine.at) };
  });
  const toRenters = rentals.flatMap(({ id, userId, machineId }) => {
    const machine = byId.get(machineId);
    if (machine === undefined) return [];
    const text = says.ofInstance(machine, id);
    return [{ ...text, userId, key: keyOf(text, id, machine.at) }];
  });
  await postNotifications(tx, [...toHosts, ...toRenters]);
}

async function tellEndingRentals(tx: Tx): Promise<number> {
  const before = new Date(tx.now.getTime() + RENTAL_AHEAD_MS);
  const rentals = await takeEndingRentals(tx, before, ROWS_PER_RUN);
  await postNotifications(
    tx,
    rentals.map(({ id, userId, endAt }) => {
      const text: Text = {
        kind: "client:expiring_soon",
        subject: `The rental of instance ${id} ends soon`,
        message: `The rental of instance ${id} ends at ${textOf(endAt)}. It stops then, and its host may delete its data. Copy away what you need.`,
      };
      return { ...text, userId, key: keyOf(text, id, endAt) };
    }),
  );
  return rentals.length;
}

async function tellEndingListings(tx: Tx): Promise<number> {
  const before = new Date(tx.now.getTime() + LISTING_AHEAD_MS);
  const listings = await takeEndingListings(tx, before, ROWS_PER_RUN);
  await postNotifications(
    tx,
    listings.map(({ id, hostId, at }) => {
      const text: Text = {
        kind: "host:listing_ending",
        subject: `The listing of machine ${id} ends soon`,
        message: `The listing of machine ${id} ends at ${textOf(at)}. List it again to keep it on the market.`,
      };
      return { ...text, userId: hostId, key: keyOf(text, id, at) };
    }),
  );
  return listings.length;
}

function keyOf({ kind }: Text, id: number, at: Date): string {
  return `${kind}:${id}:${at.getTime()}`;
}

function textOf(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
