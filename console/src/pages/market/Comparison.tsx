import { Button } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { gigabytes, megabits, share } from "../../text/size.ts";
import { duration } from "../../text/time.ts";
import { hourly, money } from "../../text/money.ts";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Icon } from "../../ui/Icon.tsx";
import type { OfferType } from "./fields.ts";
import { nameOf } from "./offer-columns.tsx";
import { offerQuery, type OfferRow } from "./offers.ts";
import classes from "./market.module.css";

/** A line of the comparison: its text, and the number by which one offer is best; undefined where none is. */
type Fact = {
  readonly name: string;
  readonly text: (offer: OfferRow) => string;
  readonly value?: (offer: OfferRow) => number | undefined;
  readonly isLessBetter?: boolean;
};

const FACTS: readonly Fact[] = [
  {
    name: "Price",
    text: ({ dph_total: price }) => said(price, hourly),
    value: (one) => one.dph_total,
    isLessBetter: true,
  },
  { name: "Per GPU", text: (one) => said(perGpu(one), hourly), value: perGpu, isLessBetter: true },
  { name: "VRAM of each GPU", text: (one) => inGb(one.gpu_ram), value: (one) => one.gpu_ram },
  { name: "Deep learning score", text: (one) => said(one.dlperf, plain), value: (one) => one.dlperf },
  { name: "Score for a dollar", text: (one) => said(perDollar(one), plain), value: perDollar },
  { name: "Processor", text: ({ cpu_name: name }) => name ?? "–" },
  { name: "Cores", text: (one) => said(one.cpu_cores_effective, plain), value: (one) => one.cpu_cores_effective },
  { name: "Memory", text: (one) => inGb(one.cpu_ram), value: (one) => one.cpu_ram },
  { name: "Disk", text: (one) => said(one.disk_space, gigabytes), value: (one) => one.disk_space },
  { name: "Disk speed", text: (one) => said(one.disk_bw, (mb) => `${plain(mb)} MB/s`), value: (one) => one.disk_bw },
  { name: "Network in", text: (one) => said(one.inet_down, megabits), value: (one) => one.inet_down },
  { name: "Network out", text: (one) => said(one.inet_up, megabits), value: (one) => one.inet_up },
  cost("Traffic in, per GB", (one) => one.inet_down_cost),
  cost("Traffic out, per GB", (one) => one.inet_up_cost),
  cost("Disk, per GB and month", (one) => one.storage_cost),
  { name: "Reliability", text: (one) => said(one.reliability, share), value: (one) => one.reliability },
  { name: "Verified", text: (one) => (one.verification === "verified" ? "yes" : "not yet") },
  { name: "Where", text: ({ geolocation }) => geolocation ?? "–" },
  { name: "Newest CUDA", text: (one) => said(one.cuda_max_good, String), value: (one) => one.cuda_max_good },
  { name: "Ends in", text: (one) => said(one.duration, duration), value: (one) => one.duration },
  { name: "Machine", text: (one) => String(one.machine_id ?? "–") },
];

type Props = {
  readonly ids: readonly number[];
  readonly type: OfferType;
  readonly onOpen: (id: number) => void;
  readonly onChange: (ids: readonly number[]) => void;
};

/** Chosen offers side by side. Lines in which they differ stand out, and the best of each line is marked. */
export function Comparison({ ids, type, onOpen, onChange }: Props) {
  const answers = useQueries({ queries: ids.map((id) => offerQuery(id, type)) });
  const offers = ids.map((id, index) => ({ id, offer: answers[index]?.data }));
  const found = offers.flatMap(({ offer }) => offer ?? []);
  const without = (id: number) => onChange(ids.filter((other) => other !== id));
  return (
    <section className={classes["comparison"]} aria-label="Comparison">
      <header>
        <h2>{ids.length === 1 ? "Choose another offer to compare" : `${ids.length} offers side by side`}</h2>
        <span>
          <CopyButton text={globalThis.location.href} what="the link to this comparison" />
          <Button variant="subtle" size="compact-xs" onClick={() => onChange([])}>
            Clear
          </Button>
        </span>
      </header>
      <div className={classes["comparisonScroll"]} tabIndex={0} role="group" aria-label="Table of the comparison">
        <table className={classes["compared"]}>
          <thead>
            <tr>
              <th scope="col">Offer</th>
              {offers.map(({ id, offer }) => (
                <th key={id} scope="col">
                  <Head id={id} offer={offer} />
                  <button
                    type="button"
                    className={classes["remove"]}
                    aria-label={`Leave out offer ${id}`}
                    onClick={() => without(id)}
                  >
                    <Icon name="cross" size={12} />
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {FACTS.map((fact) => (
              <Line key={fact.name} fact={fact} offers={offers} found={found} />
            ))}
            <tr>
              <th scope="row">Rent</th>
              {offers.map(({ id, offer }) => (
                <td key={id}>
                  {offer && (
                    <Button variant="default" size="compact-xs" onClick={() => onOpen(id)}>
                      Look at offer {id}
                    </Button>
                  )}
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** An offer; undefined while it is asked for, null when it is gone. */
type Entry = { readonly id: number; readonly offer: OfferRow | undefined | null };

function Head({ id, offer }: Entry): ReactNode {
  if (offer) return <HostileText text={nameOf(offer)} />;
  return <span className="dim">{offer === null ? `Offer ${id} is gone` : `Offer ${id}`}</span>;
}

type LineProps = { readonly fact: Fact; readonly offers: readonly Entry[]; readonly found: readonly OfferRow[] };

function Line({ fact, offers, found }: LineProps) {
  const isDifferent = new Set(found.map(fact.text)).size > 1;
  const best = isDifferent ? bestOf(fact, found) : undefined;
  return (
    <tr data-different={isDifferent || undefined}>
      <th scope="row">{fact.name}</th>
      {offers.map(({ id, offer }) => {
        const isBest = best !== undefined && offer && fact.value?.(offer) === best;
        return (
          <td key={id} data-best={isBest || undefined}>
            {offer ? <HostileText text={fact.text(offer)} /> : "–"}
            {isBest && <span className="visually-hidden"> (best)</span>}
          </td>
        );
      })}
    </tr>
  );
}

function bestOf({ value, isLessBetter }: Fact, offers: readonly OfferRow[]): number | undefined {
  const values = offers.flatMap((offer) => value?.(offer) ?? []);
  if (values.length === 0) return undefined;
  return isLessBetter === true ? Math.min(...values) : Math.max(...values);
}

function cost(name: string, value: (offer: OfferRow) => number | undefined): Fact {
  return { name, text: (offer) => said(value(offer), money), value, isLessBetter: true };
}

function said(value: number | undefined, write: (value: number) => string): string {
  return value === undefined ? "–" : write(value);
}

function inGb(megabytes: number | undefined): string {
  return said(megabytes, (mb) => gigabytes(mb / 1000));
}

function plain(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 1 });
}

function perGpu({ dph_total: price, num_gpus: gpus }: OfferRow): number | undefined {
  return price === undefined || !gpus ? undefined : price / gpus;
}

function perDollar({ dlperf, dph_total: price }: OfferRow): number | undefined {
  return dlperf === undefined || !price ? undefined : dlperf / price;
}
