import { instanceList, type InstanceListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";

type Instance = InstanceListAnswer["instances"][number];

const COLUMNS: readonly Column<Instance>[] = [
  { title: "ID", cell: (instance) => instance.id },
  { title: "STATUS", cell: (instance) => instance.actual_status ?? instance.cur_state },
  { title: "GPUS", cell: ({ num_gpus: count, gpu_name: name }) => (count === 0 ? "none" : `${count}x ${name}`) },
  { title: "IMAGE", cell: (instance) => instance.image_uuid },
  { title: "$/HOUR", cell: (instance) => dollars(instance.dph_total) },
  { title: "LABEL", cell: (instance) => instance.label },
  { title: "NOTE", cell: (instance) => (instance.is_simulated ? "simulated" : "") },
];

export async function listInstances(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await instanceList(connect(options));
  const emptyText = "You rent nothing. Find an offer with: berth search";
  printAnswer(answer, options, ({ instances }) => renderTable(instances, COLUMNS, emptyText));
}
