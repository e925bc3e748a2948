import { machineShow, type MachineShowAnswer } from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { dollars, placeText, printJson, printLine, renderFields } from "../../output.ts";
import { dateText, whenText } from "../../time-text.ts";
import { maintenanceText, rentedText, stateText } from "./describe.ts";

type Machine = MachineShowAnswer[number];

export async function showMachine(id: number, options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const [machine] = await machineShow(connect(options), { id });
  if (machine === undefined) throw new UserError(`You have no machine ${id}.`, "See yours with: berth machine list");
  if (options.json === true) printJson(machine);
  else printLine(renderFields({ ...supplyOf(machine), ...termsOf(machine, readClock()), ...useOf(machine) }));
}

function supplyOf(machine: Machine) {
  const { num_gpus: count, online_since: since, last_seen: lastSeen } = machine;
  return {
    id: machine.id,
    hostname: machine.hostname,
    state: stateText(machine),
    online: machine.is_online && since !== null ? `since ${dateText(since)} UTC` : `last on ${dateText(lastSeen)} UTC`,
    problem: [machine.error_description ?? "", ...machine.gpu_problems].filter((text) => text !== "").join("; "),
    gpus: count === 0 ? "none" : `${count}x ${machine.gpu_name} with ${Math.round(machine.gpu_ram / 1024)} GB`,
    processor: `${machine.cpu_name}, ${machine.cpu_cores} cores, ${Math.round(machine.cpu_ram / 1024)} GB of memory`,
    disk: `${Math.round(machine.avail_disk_space)} of ${Math.round(machine.disk_space)} GB free`,
    driver: machine.driver_version,
    where: `${placeText(machine.geolocation)}, ${machine.public_ipaddr}`,
    note: machine.is_simulated ? "simulated" : "",
    verification: machine.verification,
    reliability: `${(machine.reliability2 * 100).toFixed(2)} %`,
  };
}

function termsOf(machine: Machine, now: Date) {
  const { volume_offer: volumes, duration, min_chunk: least } = machine;
  return {
    price: `${dollars(machine.listed_gpu_cost)} per GPU and hour, bids from ${dollars(machine.min_bid_price)}`,
    "smallest rental": `${least} ${least === 1 ? "GPU" : "GPUs"}`,
    "disk price": `${dollars(machine.listed_storage_cost)} per GB and month`,
    traffic: `${dollars(machine.listed_inet_up_cost)} per GB sent, ${dollars(machine.listed_inet_down_cost)} received`,
    discount: `up to ${Math.round(machine.credit_discount_max * 100)} % for prepaying`,
    "listed until": machine.listed
      ? `${whenText(machine.end_date, now)}${duration === null ? "" : ", and moves on every day"}`
      : "",
    volumes:
      volumes === null
        ? ""
        : `offer ${volumes.id}: ${volumes.rented} of ${volumes.size} GB rented, ${dollars(volumes.storage_cost)} per GB and month`,
  };
}

function useOf(machine: Machine) {
  const { default_job: job, client_end_date: lastEnd, num_renters: renters } = machine;
  const devices = machine.num_gpus === 0 ? "cores" : "GPUs";
  return {
    rented: `${rentedText(machine)} ${devices}, by ${renters} ${renters === 1 ? "renter" : "renters"}`,
    instances: `${machine.current_rentals_running} run, ${machine.current_rentals_resident} have a disk here`,
    "last contract ends": lastEnd === null ? "" : `${dateText(lastEnd)} UTC`,
    earned: `${dollars(machine.earn_hour)} an hour now, ${dollars(machine.earn_day)} today, ${dollars(machine.earn_month)} this month`,
    reports: machine.num_reports === 0 ? "" : `${machine.num_reports}; see: berth machine reports ${machine.id}`,
    "default job": job === null ? "" : [job.image, ...job.args].join(" "),
    maintenance: machine.maintenance.map(maintenanceText).join("; "),
  };
}
