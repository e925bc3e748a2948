import { machineReliability, type MachineReliabilityAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderFields, renderTable, type Column } from "../../output.ts";

type Day = MachineReliabilityAnswer["days"][number];

const MS_PER_HOUR = 3_600_000;
const MS_PER_DAY = 86_400_000;

const COLUMNS: readonly Column<Day>[] = [
  { title: "DAY", cell: ({ day }) => new Date(day * MS_PER_DAY).toISOString().slice(0, 10) },
  { title: "ONLINE H", cell: (day) => hours(day.online_ms) },
  { title: "OFFLINE H", cell: (day) => hours(day.offline_ms) },
  { title: "OF THAT RENTED H", cell: (day) => hours(day.offline_rented_ms) },
  { title: "MAINTENANCE H", cell: (day) => hours(day.maintenance_ms) },
  { title: "STARTS", cell: (day) => day.starts_succeeded },
  { title: "FAILED", cell: (day) => day.starts_failed },
];

/** Shows the reliability with the facts that it is computed from, in hours. */
export async function showReliability(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await machineReliability(connect(options), { id: String(id) });
  printAnswer(
    answer,
    options,
    ({ reliability, shown_reliability: shown, is_simulated: isSimulated, formula, terms, days }) =>
      [
        renderFields({
          note: isSimulated ? "a simulated machine; its past is invented" : undefined,
          reliability: `${percent(reliability)} (offers show ${percent(shown)})`,
          formula,
          prior: hoursText(terms.prior_ms),
          online: hoursText(terms.online_ms),
          offline: hoursText(terms.offline_ms),
          "offline, rented": hoursText(terms.offline_rented_extra_ms),
          "failed starts": hoursText(terms.failed_starts_ms),
        }),
        renderTable(days, COLUMNS, "Nothing is known of it yet."),
      ].join("\n"),
  );
}

function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(2)} %`;
}

function hours(ms: number): string {
  return (ms / MS_PER_HOUR).toFixed(2);
}

function hoursText(ms: number): string {
  return `${hours(ms)} h`;
}
