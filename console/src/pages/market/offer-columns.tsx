import { money } from "../../text/money.ts";
import { gigabytes, megabits, share } from "../../text/size.ts";
import { duration } from "../../text/time.ts";
import { Price } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import type { Column } from "../../ui/table-types.ts";
import type { OfferType, SortField } from "./fields.ts";
import type { OfferRow } from "./offers.ts";
import classes from "./market.module.css";

type OfferColumn = Column<OfferRow> & { readonly key: SortField | "each" | "where" | "rent" };

/** The columns of the market; the server sorts, by the field that a column is called after. */
export function offerColumns(type: OfferType, onOpen: (offer: OfferRow) => void): readonly OfferColumn[] {
  return [
    { key: "gpu_name", title: "GPU", isName: true, cell: (offer) => <Name offer={offer} />, sortBy: nameOf },
    figure("gpu_ram", "VRAM", ({ gpu_ram: mb = 0, num_gpus: gpus = 0 }) => vram(gpus, mb)),
    { ...figure("dph_total", "Price", (offer) => <Price dollars={priceOf(offer, type)} />), isOnCard: true },
    { key: "each", title: "Per GPU", isFigure: true, cell: (offer) => perGpu(offer, type) },
    figure("cpu_ram", "CPU / RAM", ({ cpu_cores_effective: cores = 0, cpu_ram: mb = 0 }) => {
      return `${Math.round(cores)} / ${gigabytes(mb / 1000)}`;
    }),
    figure("disk_space", "Disk", ({ disk_space: gb = 0 }) => gigabytes(gb)),
    figure("inet_down", "Network in", ({ inet_down: mbits = 0 }) => megabits(mbits)),
    {
      key: "where",
      title: "Where",
      isOnCard: true,
      cell: ({ geolocation = "–" }) => <HostileText text={geolocation} />,
    },
    figure("reliability", "Reliable", ({ reliability: part }) => (part === undefined ? "–" : share(part))),
    figure("duration", "Ends in", ({ duration: seconds }) => (seconds === undefined ? "–" : duration(seconds))),
    {
      key: "rent",
      title: "Rent",
      isOnCard: true,
      cell: (offer) => (
        // A component of its own would be most of what a row costs to draw.
        <button
          type="button"
          className={classes["rent"]}
          aria-label={`Rent ${nameOf(offer)}, offer ${offer.id}`}
          onClick={() => onOpen(offer)}
        >
          Rent
        </button>
      ),
    },
  ];
}

function figure(key: SortField, title: string, cell: OfferColumn["cell"]): OfferColumn {
  return { key, title, isFigure: true, cell, sortBy: () => 0 };
}

function Name({ offer }: { readonly offer: OfferRow }) {
  const count = offer.bundled_results ?? 1;
  return (
    <>
      <HostileText text={nameOf(offer)} />
      {count > 1 && <span className="dim"> ×{count} alike</span>}
      {offer.rented && <span className={classes["mark"]}>you rent here</span>}
    </>
  );
}

function vram(gpus: number, megabytes: number): string {
  if (gpus === 0) return "–";
  const each = gigabytes(megabytes / 1000);
  return gpus === 1 ? each : `${gpus}× ${each}`;
}

function perGpu(offer: OfferRow, type: OfferType): string {
  const price = priceOf(offer, type);
  return price === undefined || !offer.num_gpus ? "–" : money(price / offer.num_gpus);
}

/** `2× RTX 4090`, or the cores of a machine without GPUs. */
export function nameOf({ num_gpus: gpus = 0, gpu_name: name, cpu_cores_effective: cores = 0 }: OfferRow): string {
  if (gpus === 0 || name === undefined) return `${Math.round(cores)} cores, no GPU`;
  return gpus === 1 ? name : `${gpus}× ${name}`;
}

/** Dollars an hour of this kind of rental: the price after the discount when it is reserved. */
function priceOf(offer: OfferRow, type: OfferType): number | undefined {
  return type === "reserved" ? (offer.discounted_dph_total ?? offer.dph_total) : offer.dph_total;
}
