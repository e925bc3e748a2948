import { instanceShow, type InstanceShowAnswer } from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { maintenanceText, noticeText, reservedText, statusText, waitingText } from "../../instance-notes.ts";
import { dollars, printJson, printLine, renderFields } from "../../output.ts";
import { whenText } from "../../time-text.ts";

type Instance = NonNullable<InstanceShowAnswer["instances"]>;

export async function showInstance(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const { instances: instance } = await instanceShow(connect(options), { id });
  if (instance === null) throw new UserError(`There is no instance ${id}.`, "See yours with: berth instances");
  if (options.json === true) printJson(instance);
  else printLine(renderFields(fieldsOf(instance, readClock())));
}

function fieldsOf(instance: Instance, now: Date): Readonly<Record<string, string | number | null | undefined>> {
  const { num_gpus: gpuCount } = instance;
  return {
    id: instance.id,
    status: statusText(instance),
    wanted: instance.intended_status,
    message: instance.status_msg,
    notice: noticeText(instance, now),
    "waits for": waitingText(instance, now),
    label: instance.label,
    image: instance.image_uuid,
    gpus: gpuCount === 0 ? "none" : `${gpuCount}x ${instance.gpu_name}`,
    machine: `${instance.machine_id}${instance.is_simulated ? " (simulated)" : ""}`,
    price: priceText(instance),
    bid: bidText(instance),
    reserved: reservedText(instance),
    ends: endText(instance, now),
    maintenance: maintenanceText(instance),
    address: instance.public_ipaddr,
    ports: Object.entries(instance.ports)
      .map(([inside, [outside]]) => `${inside} -> ${outside?.HostPort ?? "-"}`)
      .join(", "),
    "at names": Object.entries(instance.port_urls)
      .map(([inside, url]) => `${inside} -> ${url}`)
      .join(", "),
  };
}

function priceText({ dph_total: total, is_bid: isBid, is_reserved: isReserved, search }: Instance): string {
  if (isReserved)
    return `${dollars(search.discountedTotalPerHour)} per hour, ${dollars(total)} once the deposit is used up`;
  return `${dollars(total)} per hour${isBid ? " (interruptible)" : ""}`;
}

/** The bid without the disk, and the bid that would run now, if there is one. */
function bidText(instance: Instance): string | undefined {
  const { is_bid: isBid, dph_base: bid, min_bid: enough, interruption, waiting_for: waiting } = instance;
  if (!isBid) return undefined;
  const isHopeless = (interruption ?? waiting)?.bid_to_run_now === null;
  return `${dollars(bid)} per hour${isHopeless ? "" : `; ${dollars(enough)} is enough to run now`}`;
}

function endText({ end_date: endsAt, deletes_at: deletesAt }: Instance, now: Date): string {
  if (endsAt * 1000 > now.getTime()) return whenText(endsAt, now);
  return `${whenText(endsAt, now)}; its data is deleted ${whenText(deletesAt, now)}`;
}
