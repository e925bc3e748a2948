import { volumeList, type VolumeListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Volume = VolumeListAnswer["volumes"][number];

const COLUMNS: readonly Column<Volume>[] = [
  { title: "ID", cell: (volume) => volume.id },
  { title: "LABEL", cell: (volume) => volume.label },
  { title: "STATUS", cell: (volume) => volume.status },
  { title: "GB", cell: (volume) => volume.disk_space },
  { title: "USED GB", cell: ({ used_space: used }) => (used < 0 ? "" : Math.round(used * 100) / 100) },
  { title: "$/GB MONTH", cell: (volume) => dollars(volume.storage_cost) },
  { title: "MACHINE", cell: (volume) => volume.machine_id ?? "several" },
  { title: "INSTANCES", cell: (volume) => volume.instances.join(", ") },
  { title: "UNTIL", cell: (volume) => dateText(volume.end_date) },
  { title: "NOTE", cell: noteOf },
];

export async function listVolumes(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await volumeList(connect(options), { query: { type: "all_volume" } });
  const emptyText = "You have no volume. Find space for one with: berth volume search";
  printAnswer(answer, options, ({ volumes }) => renderTable(volumes, COLUMNS, emptyText));
}

function noteOf({ status_msg: message, is_simulated: isSimulated }: Volume): string {
  return [message, isSimulated ? "simulated" : ""].filter((text) => text !== "").join("; ");
}
