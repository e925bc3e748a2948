// A choice in the form that rents an offer, as a request and as a command.
import type { InstanceCreateRequest } from "../../../sdk/src/index.ts";
import type { OfferType } from "../pages/market/fields.ts";
import type { OfferRow } from "../pages/market/offers.ts";

const DISK_GB_DEFAULT = 16;

export type RentChoice = {
  /** Empty while an image is named instead. */
  readonly templateHash: string;
  readonly image: string;
  readonly diskGb: number;
  readonly label: string;
  readonly connection: string;
  readonly env: string;
  readonly onstart: string;
  /** Dollars that traffic may cost; undefined takes the budget of the service. */
  readonly trafficDollars: number | undefined;
  /** Dollars an hour; undefined rents on demand. */
  readonly bid: number | undefined;
};

export function firstChoice(offer: OfferRow, type: OfferType, template = ""): RentChoice {
  const most = Math.floor(offer.disk_space ?? DISK_GB_DEFAULT);
  return {
    ...{ templateHash: template, image: "", label: "", env: "", onstart: "", trafficDollars: undefined },
    diskGb: Math.max(1, Math.min(DISK_GB_DEFAULT, most)),
    connection: "ssh_direct",
    bid: type === "bid" ? offer.min_bid : undefined,
  };
}

/** True when the choice says what to run. */
export function isReady({ templateHash, image }: RentChoice): boolean {
  return templateHash !== "" || image.trim() !== "";
}

export function bodyOf(choice: RentChoice): InstanceCreateRequest {
  const { templateHash, image, diskGb, label, connection, env, onstart, trafficDollars, bid } = choice;
  return {
    ...(templateHash === "" ? { image: image.trim(), runtype: connection } : { template_hash_id: templateHash }),
    disk: diskGb,
    ...(label.trim() === "" ? {} : { label: label.trim() }),
    ...(env.trim() === "" ? {} : { env: env.trim() }),
    ...(onstart.trim() === "" ? {} : { onstart }),
    ...(trafficDollars === undefined ? {} : { traffic_limit: trafficDollars }),
    ...(bid === undefined ? {} : { price: bid }),
  };
}

/** Arguments of `./berth` that rent the same. */
export function commandOf(offerId: number, choice: RentChoice): readonly string[] {
  const { templateHash, image, diskGb, label, connection, env, onstart, bid } = choice;
  const option = (name: string, value: string) => (value === "" ? [] : [name, value]);
  return [
    ...["rent", String(offerId)],
    ...(templateHash === "" ? ["--image", image || "IMAGE", "--runtype", connection] : ["--template", templateHash]),
    ...["--disk", String(diskGb)],
    ...[...option("--label", label.trim()), ...option("--env", env.trim()), ...option("--onstart", onstart)],
    ...(bid === undefined ? [] : ["--bid", String(bid)]),
  ];
}
