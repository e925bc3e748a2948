import { offerSearch, type OfferSearchAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { given } from "../../given.ts";
import { dollars, placeText, printJson, printLine, renderTable, type Column } from "../../output.ts";
import { suggestLooser } from "./loosen.ts";
import { parseOrder } from "./order.ts";
import { OFFER_FIELDS } from "./search-fields.ts";
import { warnOfUnknownFields } from "./warn-unknown.ts";

type Offer = OfferSearchAnswer["offers"][number];
type Kind = "ondemand" | "bid" | "reserved";
type Options = ConnectionOptions & {
  readonly limit: number;
  readonly order: string;
  readonly interruptible?: boolean;
  readonly reserved?: boolean;
  readonly storage?: number;
  readonly all?: boolean;
  readonly json?: boolean;
};

const MB_PER_GB = 1024;
const SECONDS_PER_DAY = 86_400;

const WHAT: readonly Column<Offer>[] = [
  { title: "ID", cell: (offer) => offer.id },
  { title: "GPUS", cell: (offer) => (offer.num_gpus === 0 ? "none" : `${offer.num_gpus}x ${offer.gpu_name}`) },
  { title: "VRAM GB", cell: (offer) => Math.round(offer.gpu_ram / MB_PER_GB) },
  { title: "CORES", cell: (offer) => Math.round(offer.cpu_cores_effective * 10) / 10 },
  { title: "RAM GB", cell: (offer) => Math.round((offer.cpu_ram * offer.gpu_frac) / MB_PER_GB) },
  { title: "DISK GB", cell: (offer) => Math.round(offer.disk_space) },
];
const PRICES: Readonly<Record<Kind, readonly Column<Offer>[]>> = {
  ondemand: [{ title: "$/HOUR", cell: (offer) => dollars(offer.dph_total) }],
  bid: [
    { title: "MIN BID $/HOUR", cell: (offer) => dollars(offer.min_bid) },
    { title: "WITH DISK", cell: (offer) => dollars(offer.dph_total) },
    { title: "ON DEMAND", cell: (offer) => dollars(offer.dph_base) },
  ],
  reserved: [
    { title: "$/HOUR", cell: (offer) => dollars(offer.dph_total) },
    { title: "PREPAID", cell: (offer) => dollars(offer.discounted_dph_total) },
    { title: "OFF", cell: (offer) => `${Math.round(offer.discount_rate * 100)} %` },
  ],
};
const TRUST: readonly Column<Offer>[] = [
  { title: "RELIABLE", cell: (offer) => `${(offer.reliability2 * 100).toFixed(1)} %` },
  { title: "VERIFIED", cell: (offer) => (offer.verified ? "yes" : "no") },
  { title: "DAYS", cell: (offer) => Math.floor(offer.duration / SECONDS_PER_DAY) },
];
/** The number of equal offers that a row stands for. */
const ALIKE: Column<Offer> = { title: "ALIKE", cell: (offer) => offer.bundled_results ?? 1 };
const PLACE: readonly Column<Offer>[] = [
  { title: "WHERE", cell: (offer) => placeText(offer.geolocation) },
  { title: "NOTE", cell: (offer) => (offer.is_simulated ? "simulated" : offer.gpu_is_declared ? "GPUs declared" : "") },
];

/** The words are one query, such as `num_gpus>=2 gpu_name=RTX_4090`; only what can be rented unless it says otherwise. */
export async function search(words: readonly string[], options: Options): Promise<void> {
  const { limit, order, storage, all } = options;
  const kind = kindOf(options);
  const q = words.join(" ");
  warnOfUnknownFields(q, OFFER_FIELDS);
  const client = connect(options);
  const terms = given({ type: kind, allocated_storage: storage, disable_bundling: all });
  const body = {
    ...terms,
    q: /\brentable\b/.test(q) ? q : `rentable=true ${q}`,
    limit,
    order: parseOrder(order),
  };
  const answer = await offerSearch(client, { body });
  const { offers } = answer;
  if (options.json === true) return printJson(answer);
  if (offers.length === 0) return printLine(await suggestLooser(client, { ...terms, q }));
  const isFolded = offers.some(({ bundled_results: count }) => (count ?? 1) > 1);
  const columns = [...WHAT, ...PRICES[kind], ...(isFolded ? [ALIKE] : []), ...TRUST, ...PLACE];
  printLine(renderTable(offers, columns, ""));
  if (offers.length === limit) printLine(`The first ${limit}. More: --limit ${limit * 5}`);
}

function kindOf({ interruptible, reserved }: Options): Kind {
  if (interruptible === true && reserved === true) {
    throw new UserError(
      "--interruptible and --reserved cannot be combined.",
      "Only on-demand rentals are reserved.",
      2,
    );
  }
  if (interruptible === true) return "bid";
  return reserved === true ? "reserved" : "ondemand";
}
