// One instance as the console shows it: the query, its state in a word and a sentence, and the way in.
import { queryOptions } from "@tanstack/react-query";
import { instanceShow, type AllowedAction, type Instance } from "../../../../sdk/src/index.ts";
import { client } from "../../api/client.ts";
import { hourly, money } from "../../text/money.ts";
import { bytes } from "../../text/size.ts";
import { duration } from "../../text/time.ts";

/** One instance; null when there is none, or it is somebody else's. */
export function instanceQuery(id: string) {
  return queryOptions({
    queryKey: ["instance", "instance.show", id],
    queryFn: async ({ signal }) => (await instanceShow(client, { id: Number(id) }, { signal })).instances,
  });
}

type State = { readonly state: string; readonly sentence: string };

/** The word for the state of an instance (text/states.ts) and the sentence beside it, at `now` in seconds. */
export function stateOf(instance: Instance, now: number): State {
  const { interruption, waiting_for: waiting, status_msg: message } = instance;
  const status = instance.actual_status ?? "scheduling";
  if (interruption !== null) return { state: "yielding", sentence: yieldingText(interruption, now) };
  if (waiting !== null) return { state: "waiting", sentence: waitingText(waiting) };
  if (instance.pull !== null) return { state: "loading", sentence: pullText(instance) };
  switch (status) {
    case "running":
      return { state: "running", sentence: `Running for ${duration(now - instance.start_date)}` };
    case "stopped":
    case "exited":
    case "created":
      return {
        state: "stopped",
        sentence: `${message ?? "Stopped"}; its disk costs ${hourly(instance.storage_total_cost)}`,
      };
    case "offline":
      return { state: "offline", sentence: "Its host has not been heard of; you are not charged" };
    case "destroyed":
      return { state: "ended", sentence: "Destroyed; the bill stays" };
    default:
      return { state: status, sentence: message ?? `It is ${status}` };
  }
}

function yieldingText({ stops_at: stopsAt }: NonNullable<Instance["interruption"]>, now: number): string {
  return `Outbid: stops in ${duration(stopsAt - now)}; its data is kept and it resumes by itself`;
}

function waitingText({ reason, ahead, bid_to_run_now: bid }: NonNullable<Instance["waiting_for"]>): string {
  const place = ahead === 0 ? "next in line" : `${ahead} ahead`;
  const raise = bid === null ? "" : `; ${hourly(bid)} would run now`;
  if (reason === "outbid") return `Outbid; ${place}${raise}`;
  return reason === "host" ? "Waits until its host is back" : `Waits until its devices are free; ${place}`;
}

function pullText({ image_uuid: image, pull }: Instance): string {
  if (pull === null) return `Pulling ${image}`;
  const speed = pull.bytes_per_second > 0 ? `, ${bytes(pull.bytes_per_second)}/s` : "";
  const rest = pull.eta_seconds === null ? "" : `, about ${duration(pull.eta_seconds)}`;
  return `Pulling ${image}: ${bytes(pull.done_bytes)} of ${bytes(pull.total_bytes)}${speed}${rest}`;
}

/** `2× RTX 4090`, or the cores of a machine without GPUs. */
export function gpusOf({ num_gpus: gpus, gpu_name: name, cpu_cores_effective: cores }: Instance): string {
  if (name === "" || gpus === 0) return `${Math.round(cores)} cores`;
  return gpus === 1 ? name : `${gpus}× ${name}`;
}

/** A host says its address, so only one that a shell takes for nothing else is put into a command. */
const HOST = /^[A-Za-z0-9:][A-Za-z0-9.:_-]*$/;

/** The command that opens a shell: at the instance's own port, else through the server; undefined while there is neither. */
export function sshCommandOf(instance: Instance): string | undefined {
  const direct = Number(instance.ports["22/tcp"]?.[0]?.HostPort ?? 0);
  const address = instance.public_ipaddr.trim();
  if (direct > 0 && HOST.test(address)) return `ssh -p ${direct} root@${address}`;
  if (instance.ssh_port === 0 || !HOST.test(instance.ssh_host)) return undefined;
  const offset = instance.image_runtype.includes("jupyter") ? 1 : 0;
  return `ssh -p ${instance.ssh_port + offset} root@${instance.ssh_host}`;
}

/** The loss that destroying an instance means, in two sentences. */
export function lossOf({ disk_usage: gb, disk_space: space, volume_info: volumes }: Instance): string {
  const used = gb > 0 ? bytes(gb * 1e9) : "everything";
  const kept = volumes.length === 0 ? "It has no volume, so nothing is kept." : "Its volumes are kept.";
  return `${used} on its disk of ${bytes(space * 1e9)} is lost. ${kept}`;
}

/** Dollars an hour with what they are made of. */
export function costText({ dph_total: total, storage_total_cost: disk, traffic_cost: traffic }: Instance): string {
  return `${hourly(total)} while it runs, of which ${hourly(disk)} for the disk; traffic so far ${money(traffic)}`;
}

/** The reason why an action is not possible now, in the server's words; undefined when it is possible. */
export function reasonOf({ allowed, reason }: AllowedAction): string | undefined {
  return allowed ? undefined : (reason ?? "It is not possible now.");
}
