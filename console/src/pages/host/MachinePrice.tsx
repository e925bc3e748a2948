import { useQuery } from "@tanstack/react-query";
import { machinePriceHint, type Machine, type PriceHint } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { hourly, money } from "../../text/money.ts";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import classes from "./host.module.css";

type Band = PriceHint["asked"];

/** The terms of a machine, and its price beside those of other hosts for the same GPUs. */
export function MachinePrice({ machine }: { readonly machine: Machine }) {
  const hint = useQuery(ask("machine.price-hint", machinePriceHint, { id: machine.id }));
  return (
    <>
      <dl className={classes["facts"]}>
        <dt>A GPU</dt>
        <dd>{hourly(machine.listed_gpu_cost)}</dd>
        <dt>Minimum bid</dt>
        <dd>{hourly(machine.min_bid_price)}</dd>
        <dt>Disk</dt>
        <dd>{money(machine.listed_storage_cost)} per GB and month</dd>
        <dt>Traffic</dt>
        <dd>
          {money(machine.listed_inet_up_cost)} per GB sent, {money(machine.listed_inet_down_cost)} per GB received
        </dd>
        <dt>Listed until</dt>
        <dd>{machine.listed ? <Ago at={machine.end_date} /> : "not listed"}</dd>
      </dl>
      <Answer query={hint} rows={3}>
        {(answer) => (
          <>
            <h3 className={classes["subtitle"]}>
              Other hosts with <HostileText text={answer.gpu_name} />
            </h3>
            <dl className={classes["facts"]}>
              <dt>Ask for free ones</dt>
              <dd>
                <BandText band={answer.asked} price={answer.price_gpu} />
              </dd>
              <dt>Are rented at</dt>
              <dd>
                <BandText band={answer.rented} price={answer.price_gpu} />
              </dd>
            </dl>
          </>
        )}
      </Answer>
    </>
  );
}

function BandText({ band, price }: { readonly band: Band; readonly price: number }) {
  if ("withheld" in band) {
    return <span className="dim">Not shown: fewer than three hosts, and it would tell what one of them asks.</span>;
  }
  return (
    <span>
      {hourly(band.p25)} to {hourly(band.p75)}, half of them below {hourly(band.p50)} ({band.gpu_count} GPUs of{" "}
      {band.host_count} hosts). Your price is {placeOf(band, price)}.
    </span>
  );
}

function placeOf(band: Exclude<Band, { readonly withheld: true }>, price: number): string {
  if (price < band.p10) return "below nine in ten";
  if (price < band.p25) return "in the lowest quarter";
  if (price <= band.p75) return "in the middle half";
  return price <= band.p90 ? "in the highest quarter" : "above nine in ten";
}
