import { instanceList, type InstanceListAnswer } from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { briefNote, statusText } from "../../instance-notes.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";

type Instance = InstanceListAnswer["instances"][number];

const COLUMNS: readonly Column<Instance>[] = [
  { title: "ID", cell: (instance) => instance.id },
  { title: "STATUS", cell: (instance) => statusText(instance) },
  { title: "GPUS", cell: ({ num_gpus: count, gpu_name: name }) => (count === 0 ? "none" : `${count}x ${name}`) },
  { title: "IMAGE", cell: (instance) => instance.image_uuid },
  { title: "$/HOUR", cell: (instance) => dollars(instance.dph_total) },
  { title: "KIND", cell: ({ is_bid: isBid, is_reserved: isReserved }) => kindOf(isBid, isReserved) },
  { title: "LABEL", cell: (instance) => instance.label },
];

export async function listInstances(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await instanceList(connect(options));
  const emptyText = "You rent nothing. Find an offer with: berth search";
  const note = { title: "NOTE", cell: (instance: Instance) => noteOf(instance, readClock()) };
  printAnswer(answer, options, ({ instances }) => renderTable(instances, [...COLUMNS, note], emptyText));
}

function noteOf(instance: Instance, now: Date): string {
  return [briefNote(instance, now), instance.is_simulated ? "simulated" : ""].filter((text) => text !== "").join("; ");
}

function kindOf(isBid: boolean, isReserved: boolean): string {
  if (isBid) return "bid";
  return isReserved ? "reserved" : "on demand";
}
