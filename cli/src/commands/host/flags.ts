import { hostFlagList, type HostFlagListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer, renderTable } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Options = ConnectionOptions & { readonly json?: boolean; readonly all?: boolean };

/** Lists flags of the caller and their machines; cleared ones only with `--all`. */
export async function showFlags(options: Options): Promise<void> {
  const query = given({ open: options.all === true ? undefined : ("true" as const) });
  printAnswer(await hostFlagList(connect(options), { query }), options, renderFlags);
}

function renderFlags({ flags }: HostFlagListAnswer): string {
  return renderTable(
    flags,
    [
      { title: "ID", cell: (flag) => flag.id },
      { title: "MACHINE", cell: (flag) => flag.machine_id ?? "" },
      { title: "KIND", cell: (flag) => flag.kind },
      { title: "SINCE", cell: (flag) => dateText(flag.since) },
      { title: "SEEN", cell: (flag) => flag.seen_count },
      { title: "CLEARED", cell: (flag) => (flag.cleared_at === null ? "" : dateText(flag.cleared_at)) },
      { title: "WHAT", cell: (flag) => flag.msg },
    ],
    "No flags.",
  );
}
