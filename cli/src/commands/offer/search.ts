import { offerSearch, type OfferSearchAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";

type Offer = OfferSearchAnswer["offers"][number];
type Options = ConnectionOptions & {
  readonly limit: number;
  readonly order?: string;
  readonly interruptible?: boolean;
  readonly json?: boolean;
};

const MB_PER_GB = 1024;

const COLUMNS: readonly Column<Offer>[] = [
  { title: "ID", cell: (offer) => offer.id },
  { title: "GPUS", cell: (offer) => (offer.num_gpus === 0 ? "none" : `${offer.num_gpus}x ${offer.gpu_name}`) },
  { title: "VRAM GB", cell: (offer) => Math.round(offer.gpu_ram / MB_PER_GB) },
  { title: "CORES", cell: (offer) => offer.cpu_cores_effective },
  { title: "RAM GB", cell: (offer) => Math.round((offer.cpu_ram * offer.gpu_frac) / MB_PER_GB) },
  { title: "DISK GB", cell: (offer) => Math.round(offer.disk_space) },
  { title: "$/HOUR", cell: (offer) => dollars(offer.dph_total) },
  { title: "WHERE", cell: (offer) => offer.geolocation },
  { title: "NOTE", cell: (offer) => (offer.is_simulated ? "simulated" : offer.gpu_is_declared ? "GPUs declared" : "") },
];

/** The words are one query, such as `num_gpus>=2 gpu_name=RTX_4090`; only what can be rented unless it says otherwise. */
export async function search(words: readonly string[], options: Options): Promise<void> {
  const q = words.join(" ");
  const body = {
    q: /\brentable\b/.test(q) ? q : `rentable=true ${q}`,
    limit: options.limit,
    type: options.interruptible ? "bid" : "ondemand",
    order: [parseOrder(options.order ?? "dph_total")],
  };
  const answer = await offerSearch(connect(options), { body });
  printAnswer(answer, options, ({ offers }) => renderTable(offers, COLUMNS, "No offer matches."));
}

/** `score-` is the highest first, as in the query language; without a sign the lowest comes first. */
function parseOrder(text: string): readonly [string, "asc" | "desc"] {
  return text.endsWith("-") ? [text.slice(0, -1), "desc"] : [text.replace(/\+$/, ""), "asc"];
}
