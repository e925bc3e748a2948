import { adminInstances, type AdminInstancesAnswer } from "../../../../../sdk/src/operations.ts";
import { connect } from "../../../connect.ts";
import { given } from "../../../given.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../../output.ts";
import { dateText } from "../../../time-text.ts";
import { moreText, type ListOptions } from "./list-options.ts";

type Instance = AdminInstancesAnswer["instances"][number];

const COLUMNS: readonly Column<Instance>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "RENTER", cell: ({ user_id: id, email }) => `${id} ${email}` },
  { title: "MACHINE", cell: (instance) => instance.machine_id },
  { title: "LABEL", cell: ({ label }) => label },
  { title: "IMAGE", cell: ({ image }) => image },
  { title: "GPUS", cell: (instance) => instance.device_count },
  { title: "PHASE", cell: ({ phase, phase_cause: cause }) => `${phase} (${cause})` },
  { title: "SINCE", cell: (instance) => dateText(instance.phase_since) },
  { title: "$/HOUR", cell: ({ dph_total: price, is_bid: isBid }) => `${dollars(price)}${isBid ? " bid" : ""}` },
  { title: "DISK GB", cell: (instance) => instance.disk_gb },
];

type InstanceOptions = ListOptions & { readonly renter?: number; readonly machine?: number; readonly ended?: true };

/** Instances of all renters that match, the newest first; those that have ended only when asked for. */
export async function findInstances(q: string | undefined, options: InstanceOptions): Promise<void> {
  const { limit, after, renter, machine, ended } = options;
  const over = ended === true ? ("true" as const) : ("false" as const);
  const query = given({ q, limit, after_token: after, renter_id: renter, machine_id: machine, over });
  const answer = await adminInstances(connect(options), { query });
  printAnswer(answer, options, ({ instances, next_token: token }) =>
    [renderTable(instances, COLUMNS, "No instance matches."), moreText(token)].join(""),
  );
}
