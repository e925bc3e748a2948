// The state of an instance in a word and a sentence, with its numbers.
import type { Instance } from "../../../sdk/src/index.ts";
import { hourly } from "../text/money.ts";
import { bytes } from "../text/size.ts";
import { duration, utcTime } from "../text/time.ts";

/** The fields of an instance that its state follows from. */
type Told = Pick<
  Instance,
  | "actual_status"
  | "dph_base"
  | "host_last_seen"
  | "image_uuid"
  | "interruption"
  | "pull"
  | "start_date"
  | "status_msg"
  | "storage_total_cost"
  | "uptime_mins"
  | "waiting_for"
>;
type Interruption = NonNullable<Instance["interruption"]>;
type Waits = NonNullable<Instance["waiting_for"]>;
type State = { readonly state: string; readonly sentence: string };

/** The word for the state of an instance (text/states.ts) and the sentence beside it, at `now` in seconds. */
export function stateOf(instance: Told, now: number): State {
  const { interruption, waiting_for: waiting, status_msg: message } = instance;
  const status = instance.actual_status ?? "scheduling";
  if (interruption !== null) return { state: "yielding", sentence: yieldingText(interruption, now) };
  if (waiting !== null) return { state: "waiting", sentence: waitingText(instance, waiting) };
  if (instance.pull !== null) return { state: "loading", sentence: pullText(instance) };
  switch (status) {
    case "running":
      return { state: "running", sentence: `Running for ${duration(runSeconds(instance, now))}` };
    case "stopped":
    case "exited":
    case "created":
      return {
        state: "stopped",
        sentence: `${message ?? "Stopped"}; its disk costs ${hourly(instance.storage_total_cost)}`,
      };
    case "offline":
      return { state: "offline", sentence: offlineText(instance, now) };
    case "destroyed":
      return { state: "ended", sentence: "Destroyed; the bill stays" };
    default:
      return { state: status, sentence: message ?? `It is ${status}` };
  }
}

function runSeconds({ uptime_mins: minutes, start_date: start }: Told, now: number): number {
  return minutes === null ? now - start : minutes * 60;
}

function offlineText({ host_last_seen: at }: Told, now: number): string {
  return `Its host has not been heard of for ${duration(now - at)}; you are not charged`;
}

function yieldingText({ reason, stops_at: stopsAt, winning_bid: winning }: Interruption, now: number): string {
  const why = reason === "on_demand" ? "Gives way to an on-demand rental" : `Outbid${atBid(winning)}`;
  return `${why}: stops in ${duration(stopsAt - now)}; its data is kept and it resumes by itself`;
}

/** The place in the line, and the gap to the winning bid; prices are those of the whole rental. */
function waitingText(instance: Told, waiting: Waits): string {
  const { reason, ahead, winning_bid: winning, bid_to_run_now: bid, resumes_no_earlier_than: earliest } = waiting;
  const place = ahead === 0 ? "next in line" : `${ahead} ahead`;
  if (reason === "host") return "Waits until its host is back";
  if (reason === "slice") {
    const until = earliest === null ? "" : ` until ${utcTime(earliest)}`;
    return `Waits: the winner keeps its turn${until}; ${place}`;
  }
  if (reason === "devices") return `Waits until its devices are free; ${place}`;
  const gap = winning === null ? 0 : winning - instance.dph_base;
  const by = gap > 0 ? ` by ${hourly(gap)}` : "";
  return `Outbid${by}; ${place}${bid === null ? "" : `; runs now for ${hourly(bid)}`}`;
}

function atBid(winning: number | null): string {
  return winning === null ? "" : ` at ${hourly(winning)}`;
}

function pullText({ image_uuid: image, pull }: Told): string {
  if (pull === null) return `Pulling ${image}`;
  const speed = pull.bytes_per_second > 0 ? `, ${bytes(pull.bytes_per_second)}/s` : "";
  const rest = pull.eta_seconds === null ? "" : `, about ${duration(pull.eta_seconds)}`;
  return `Pulling ${image}: ${bytes(pull.done_bytes)} of ${bytes(pull.total_bytes)}${speed}${rest}`;
}
