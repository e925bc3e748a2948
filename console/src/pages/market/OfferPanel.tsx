import { useQuery } from "@tanstack/react-query";
import { RentInstance } from "../../forms/rent-instance.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { gigabytes, megabits, share } from "../../text/size.ts";
import { duration } from "../../text/time.ts";
import { money } from "../../text/money.ts";
import { HostileText } from "../../ui/HostileText.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { Waiting } from "../../ui/Waiting.tsx";
import { PriceHistory } from "./PriceHistory.tsx";
import { nameOf } from "./offer-columns.tsx";
import type { OfferType } from "./fields.ts";
import { offerQuery, type OfferRow } from "./offers.ts";
import classes from "./market.module.css";

type Props = {
  /** The offer to show; undefined closes the panel. */
  readonly id: number | undefined;
  /** Its row, when the table has it. */
  readonly known: OfferRow | undefined;
  readonly type: OfferType;
  /** Hash of the template to begin with. */
  readonly template?: string | undefined;
  readonly onClose: () => void;
};

/** One offer beside the table: its machine, the prices of its kind, and the form that rents it. */
export function OfferPanel({ id, known, type, template, onClose }: Props) {
  const isOpen = id !== undefined;
  const found = useQuery({ ...offerQuery(id ?? 0, type), enabled: isOpen && known === undefined }).data;
  const offer = known ?? found ?? undefined;
  return (
    <Panel title={offer === undefined ? "Offer" : nameOf(offer)} isOpen={isOpen} onClose={onClose} width={560}>
      {offer !== undefined && <Offer key={offer.id} offer={offer} type={type} template={template} />}
      {offer === undefined && found === undefined && <Waiting rows={8} />}
      {offer === undefined && found === null && (
        <EmptyState title={`Offer ${id} is gone`}>
          Somebody rented it, its host withdrew it, or its terms changed, which gives it another id.
        </EmptyState>
      )}
    </Panel>
  );
}

type OfferProps = { readonly offer: OfferRow; readonly type: OfferType; readonly template: string | undefined };

function Offer({ offer, type, template }: OfferProps) {
  return (
    <>
      <Facts offer={offer} />
      <RentInstance offer={offer} type={type} template={template} />
      {offer.gpu_name !== undefined && <PriceHistory gpuName={offer.gpu_name} />}
    </>
  );
}

function Facts({ offer }: { readonly offer: OfferRow }) {
  const perGb = (dollars: number | undefined) => (dollars === undefined ? "–" : `${money(dollars)} per GB`);
  const facts: readonly (readonly [string, string])[] = [
    ["Where", offer.geolocation ?? "not said"],
    ["Verified", offer.verification === "verified" ? "yes, tested by the service" : "not yet"],
    ["Reliability", offer.reliability === undefined ? "–" : share(offer.reliability)],
    [
      "Processor",
      `${Math.round(offer.cpu_cores_effective ?? 0)} cores${offer.cpu_name === undefined ? "" : `, ${offer.cpu_name}`}`,
    ],
    ["Memory", gigabytes((offer.cpu_ram ?? 0) / 1000)],
    ["Disk", `${gigabytes(offer.disk_space ?? 0)}, ${Math.round(offer.disk_bw ?? 0).toLocaleString("en-US")} MB/s`],
    ["Network", `${megabits(offer.inet_down ?? 0)} in, ${megabits(offer.inet_up ?? 0)} out`],
    ["Traffic", `${perGb(offer.inet_down_cost)} in, ${perGb(offer.inet_up_cost)} out`],
    ["CUDA up to", offer.cuda_max_good === undefined ? "–" : String(offer.cuda_max_good)],
    ["Ends in", offer.duration === undefined ? "–" : duration(offer.duration)],
    ["Machine", `${offer.machine_id ?? "–"}${offer.is_simulated ? ", simulated: nothing runs on a real machine" : ""}`],
  ];
  return (
    <dl className={classes["facts"]}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <HostileText text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
