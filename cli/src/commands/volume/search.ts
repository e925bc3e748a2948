import { networkVolumeSearch, volumeSearch, type VolumeSearchAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { dollars, printJson, printLine, renderTable, type Column } from "../../output.ts";
import { parseOrder } from "../offer/order.ts";
import { VOLUME_FIELDS } from "../offer/search-fields.ts";
import { warnOfUnknownFields } from "../offer/warn-unknown.ts";

type Offer = VolumeSearchAnswer["offers"][number];
type Options = ConnectionOptions & {
  readonly network?: boolean;
  readonly storage?: number;
  readonly order: string;
  readonly limit: number;
  readonly json?: boolean;
};

const SECONDS_PER_DAY = 86_400;

const COLUMNS: readonly Column<Offer>[] = [
  { title: "ID", cell: (offer) => offer.id },
  { title: "FREE GB", cell: (offer) => Math.round(offer.disk_space) },
  { title: "$/GB MONTH", cell: (offer) => dollars(offer.storage_cost) },
  { title: "DISK", cell: (offer) => offer.disk_name },
  { title: "MB/S", cell: (offer) => Math.round(offer.disk_bw) },
  { title: "MACHINE", cell: (offer) => offer.machine_id },
  { title: "RELIABLE", cell: (offer) => `${(offer.reliability2 * 100).toFixed(1)} %` },
  { title: "VERIFIED", cell: (offer) => (offer.verification === "verified" ? "yes" : "no") },
  { title: "DAYS", cell: (offer) => Math.floor(offer.duration / SECONDS_PER_DAY) },
  { title: "WHERE", cell: (offer) => offer.geolocation },
  { title: "NOTE", cell: (offer) => (offer.is_simulated ? "simulated" : "") },
];

/** Lists space for volumes: on single machines, or on disks that several machines mount. */
export async function searchVolumes(words: readonly string[], options: Options): Promise<void> {
  const { network, storage, order, limit } = options;
  const q = words.join(" ");
  warnOfUnknownFields(q, VOLUME_FIELDS);
  const body = { ...given({ allocated_storage: storage }), q, limit, order: parseOrder(order) };
  const search = network === true ? networkVolumeSearch : volumeSearch;
  const answer = await search(connect(options), { body });
  const { offers } = answer;
  if (options.json === true) return printJson(answer);
  printLine(renderTable(offers, COLUMNS, "No volume offer matches."));
  if (offers.length === limit) printLine(`The first ${limit}. More: --limit ${limit * 5}`);
}
