import { NumberInput, Slider } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { offerBidHistory } from "../../../sdk/src/index.ts";
import { ask } from "../api/query.ts";
import type { OfferRow } from "../pages/market/offers.ts";
import { hourly, money } from "../text/money.ts";
import { count, share } from "../text/size.ts";
import { lasting } from "../text/time.ts";
import classes from "./rent.module.css";

const WEEK_HOURS = 168;
/** Prices this close are one rung of the ladder. */
const SAME_PRICE = 1e-9;

type Props = {
  readonly offer: OfferRow;
  readonly bid: number | undefined;
  readonly onBid: (bid: number) => void;
};

/** A bid as a number and as a slider, and what it would have held on this machine in the past week. */
export function RentBid({ offer, bid = 0, onBid }: Props) {
  const history = useQuery(ask("offer.bids", offerBidHistory, { id: offer.id, query: { hours: WEEK_HOURS } })).data;
  const ladder = history?.ladder ?? [];
  const rung = ladder.findLastIndex(({ price }) => price <= bid + SAME_PRICE);
  const outcome = ladder[rung];
  return (
    <fieldset className={classes["bid"]}>
      <legend>Your bid</legend>
      <NumberInput
        label="Dollars an hour"
        min={0}
        step={0.01}
        decimalScale={6}
        value={bid}
        onChange={(value) => onBid(Number(value) || 0)}
      />
      {ladder.length > 1 && (
        <Slider
          thumbLabel="Bid"
          label={null}
          min={0}
          max={ladder.length - 1}
          value={Math.max(0, rung)}
          onChange={(step) => onBid(ladder[step]?.price ?? bid)}
        />
      )}
      <p className={classes["line"]} aria-live="polite">
        {outcome === undefined || history === undefined || history.known_hours < 1 ? (
          `The lowest bid that runs now is ${offer.min_bid === undefined ? "not known" : hourly(offer.min_bid)}.`
        ) : (
          <>
            At {hourly(outcome.price)} it would have run {share(outcome.running_share)} of the last{" "}
            {lasting(history.known_hours)}, with {count(outcome.interruptions, "interruption")}, for{" "}
            {money(outcome.cost)}.
          </>
        )}
      </p>
    </fieldset>
  );
}
