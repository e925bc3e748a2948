import type { InstanceListAnswer } from "../../sdk/src/operations.ts";
import { dollars } from "./output.ts";
import { dateText, spanText, whenText } from "./time-text.ts";

type Instance = InstanceListAnswer["instances"][number];
/** The fields of an instance that say why it runs or waits, and at what price. */
export type Terms = Pick<
  Instance,
  | "id"
  | "is_bid"
  | "is_reserved"
  | "dph_base"
  | "credit_balance"
  | "credit_discount"
  | "interruption"
  | "waiting_for"
  | "maintenance"
>;

type Status = Pick<Instance, "actual_status" | "waiting_for">;

/** The status that the host reported; before its first report `ordered`, or `scheduling` while it waits for devices. */
export function statusText({ actual_status: status, waiting_for: waiting }: Status): string {
  return status ?? (waiting === null ? "ordered" : "scheduling");
}

/** A few words for a row of a list: why an instance waits or will stop, or its discount. */
export function briefNote(instance: Terms, now: Date): string {
  const { interruption, waiting_for: waiting, is_reserved: isReserved } = instance;
  if (interruption !== null)
    return `stops in ${secondsUntil(interruption.stops_at, now)}: ${TAKEN[interruption.reason]}`;
  if (waiting !== null) return `waits: ${waitingReason(waiting, instance)}`;
  return isReserved ? `reserved, ${percent(instance.credit_discount)} off` : "";
}

/** The eviction notice of an instance, with the bid that would avert it. */
export function noticeText({ id, interruption }: Terms, now: Date): string | undefined {
  if (interruption === null) return undefined;
  const { reason, stops_at: stopsAt, bid_to_run_now: bid } = interruption;
  return `${TAKEN[reason]}; stops in ${secondsUntil(stopsAt, now)}${bid === null ? "" : `, stays with: ${bidCommand(id, bid)}`}`;
}

/** The reason why an instance waits although its owner started it, with the bid that would end the wait. */
export function waitingText(instance: Terms, now: Date): string | undefined {
  const { id, dph_base: own, waiting_for: waiting } = instance;
  if (waiting === null) return undefined;
  const { ahead, bid_to_run_now: bid, resumes_no_earlier_than: earliest } = waiting;
  return [
    waitingReason(waiting, instance),
    aheadText(ahead),
    earliest === null ? "" : `not before ${whenText(earliest, now)}`,
    bid === null || bid <= own ? "" : `runs now with: ${bidCommand(id, bid)}`,
  ]
    .filter((text) => text !== "")
    .join("; ");
}

/** The discount, and the running time for which the deposit lasts. */
export function reservedText(instance: Terms): string | undefined {
  const { is_reserved: isReserved, credit_balance: deposit, credit_discount: discount, dph_base: perHour } = instance;
  if (!isReserved || deposit === null) return undefined;
  const reduced = perHour * (1 - (discount ?? 0));
  const time = reduced > 0 ? ` for ${spanText((deposit / reduced) * 3600)} more of running` : "";
  return `${percent(discount)} off${time}; ${dollars(deposit)} in the deposit`;
}

export function maintenanceText({ maintenance }: Pick<Terms, "maintenance">): string {
  return maintenance
    .map(({ start_time: start, end_time: end, maintenance_category: category, maintenance_reason: reason }) => {
      const why = [category === "not provided" ? "" : category, reason].filter((text) => text !== "").join(": ");
      return `${dateText(start)} to ${dateText(end)} UTC${why === "" ? "" : `, ${why}`}`;
    })
    .join("; ");
}

const TAKEN = { outbid: "outbid", on_demand: "rented on demand" } as const;

type Waiting = NonNullable<Instance["waiting_for"]>;

function waitingReason({ reason, winning_bid: winning, bid_to_run_now: bid }: Waiting, { is_bid: isBid }: Terms) {
  switch (reason) {
    case "outbid":
      if (winning !== null) return `outbid by ${dollars(winning)} per hour`;
      return bid === null ? "outbid" : `its bid is below ${dollars(bid)} per hour`;
    case "devices":
      return isBid && bid === null
        ? "all devices that it could use are rented on demand"
        : "its devices are not free yet";
    case "slice":
      return "the minimum slice of running time has to end first";
    case "host":
      return "its host is away";
  }
}

function aheadText(count: number): string {
  if (count === 0) return "next to run";
  return `${count} ${count === 1 ? "instance ranks" : "instances rank"} before it`;
}

function bidCommand(id: number, bid: number): string {
  return `berth bid ${id} ${bid}`;
}

function secondsUntil(unixSeconds: number, now: Date): string {
  return spanText(unixSeconds - now.getTime() / 1000);
}

function percent(fraction: number | null): string {
  return `${Math.round((fraction ?? 0) * 1000) / 10} %`;
}
