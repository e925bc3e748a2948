// A choice in the form that rents an offer, as a request and as a command.
import type { InstanceCreateRequest, VolumeMount } from "../../../sdk/src/index.ts";
import type { OfferType } from "../pages/market/fields.ts";
import type { OfferRow } from "../pages/market/offers.ts";

const DISK_GB_DEFAULT = 16;

/** A volume of the machine: none, one that the renter has there, or a new one of the machine's space. */
export type VolumeChoice =
  | { readonly kind: "none" }
  | { readonly kind: "own"; readonly id: number; readonly path: string }
  | { readonly kind: "new"; readonly spaceId: number; readonly sizeGb: number; readonly path: string };

export type RentChoice = {
  /** Empty while an image is named instead; undefined for the template that is chosen without a word. */
  readonly templateHash: string | undefined;
  readonly image: string;
  readonly diskGb: number;
  readonly label: string;
  readonly connection: string;
  readonly env: string;
  readonly onstart: string;
  /** Dollars that traffic may cost; undefined takes the budget of the service. */
  readonly trafficDollars: number | undefined;
  readonly volume: VolumeChoice;
  /** Dollars an hour; undefined rents on demand. */
  readonly bid: number | undefined;
};

/** A choice whose template is known. */
export type ReadyChoice = RentChoice & { readonly templateHash: string };

export function firstChoice(offer: OfferRow, type: OfferType, template?: string): RentChoice {
  const most = Math.floor(offer.disk_space ?? DISK_GB_DEFAULT);
  return {
    ...{ templateHash: template, image: "", label: "", env: "", onstart: "", trafficDollars: undefined },
    diskGb: Math.max(1, Math.min(DISK_GB_DEFAULT, most)),
    connection: "ssh_direct",
    volume: { kind: "none" },
    bid: type === "bid" ? offer.min_bid : undefined,
  };
}

/** True when the choice says what to run. */
export function isReady({ templateHash, image }: ReadyChoice): boolean {
  return templateHash !== "" || image.trim() !== "";
}

export function bodyOf(choice: ReadyChoice): InstanceCreateRequest {
  const { templateHash, image, diskGb, label, connection, env, onstart, trafficDollars, bid, volume } = choice;
  return {
    ...(templateHash === "" ? { image: image.trim(), runtype: connection } : { template_hash_id: templateHash }),
    disk: diskGb,
    ...(label.trim() === "" ? {} : { label: label.trim() }),
    ...(env.trim() === "" ? {} : { env: env.trim() }),
    ...(onstart.trim() === "" ? {} : { onstart }),
    ...(trafficDollars === undefined ? {} : { traffic_limit: trafficDollars }),
    ...(bid === undefined ? {} : { price: bid }),
    ...(volume.kind === "none" ? {} : { volume_info: mountOf(volume) }),
  };
}

function mountOf(volume: Exclude<VolumeChoice, { kind: "none" }>): VolumeMount {
  const { path } = volume;
  if (volume.kind === "own") return { create_new: false, volume_id: volume.id, mount_path: path };
  return { create_new: true, volume_id: volume.spaceId, size: volume.sizeGb, mount_path: path };
}

/** Arguments of `./berth` that rent the same; undefined with a new volume, which the command rents by itself before. */
export function commandOf(offerId: number, choice: ReadyChoice): readonly string[] | undefined {
  const { templateHash, image, diskGb, label, connection, onstart, trafficDollars, bid, volume } = choice;
  if (volume.kind === "new") return undefined;
  const link = volume.kind === "own" ? `-v V.${volume.id}:${volume.path}` : "";
  const env = [choice.env.trim(), link].filter((part) => part !== "").join(" ");
  const option = (name: string, value: string) => (value === "" ? [] : [name, value]);
  return [
    ...["rent", String(offerId)],
    ...(templateHash === "" ? ["--image", image || "IMAGE", "--runtype", connection] : ["--template", templateHash]),
    ...["--disk", String(diskGb)],
    ...[...option("--label", label.trim()), ...option("--env", env), ...option("--onstart", onstart)],
    ...(trafficDollars === undefined ? [] : ["--traffic-limit", String(trafficDollars)]),
    ...(bid === undefined ? [] : ["--bid", String(bid)]),
  ];
}
