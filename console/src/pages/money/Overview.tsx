import { SegmentedControl } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import {
  billingSpendDays,
  billingSpendForecast,
  type BillingSpendDaysAnswer,
  type BillingSpendForecastAnswer,
} from "../../../../sdk/src/index.ts";
import { ask, askPlain } from "../../api/query.ts";
import { StackedDays } from "../../charts/StackedDays.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { hourly, money } from "../../text/money.ts";
import { lasting, utcDay } from "../../text/time.ts";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import { Moment } from "../../ui/figures.tsx";
import { useNow } from "../../ui/use-now.ts";
import { CostsNow } from "./CostsNow.tsx";
import { SPLIT_WORDS, SPLITS, type Split } from "./split.ts";
import classes from "./money.module.css";

const route = getRouteApi("/frame/money");
const SPANS = [7, 30, 90] as const;
const DAYS_USUAL = 30;
const HOUR_S = 3_600;

/** The balance and where it goes: figures of the server, spending by day, and what costs money now. */
export function Overview() {
  const forecast = useQuery(askPlain("balance.outlook", billingSpendForecast));
  return (
    <>
      <PageHead title="Money" actions={<Link to="/money/top-up">Add credit</Link>} />
      <Answer query={forecast} rows={2}>
        {(answer) => <Figures forecast={answer} />}
      </Answer>
      <Spending />
      <CostsNow />
    </>
  );
}

function Figures({ forecast }: { readonly forecast: BillingSpendForecastAnswer }) {
  const { balance, cost_per_hour: perHour, today, month, month_forecast: ahead, month_end: end } = forecast;
  const now = useNow();
  const dry = forecast.runs_dry_at;
  return (
    <dl className={classes["figures"]}>
      <Figure name="Balance" value={money(balance)} note="what you can spend" />
      <Figure name="Now" value={hourly(perHour)} note="running and stored" />
      <Figure name="Today" value={money(today)} note="since midnight UTC" />
      <Figure name="This month" value={money(month)} note={`${utcDay(now).slice(0, 7)}, UTC`} />
      <Figure name="Month's end" value={money(ahead)} note={`by ${utcDay(end - 1)}, if all goes on`} />
      <Figure
        name="Runs dry"
        value={dry === null ? "never" : `in ${lasting((dry - now) / HOUR_S)}`}
        note={dry === null ? "nothing costs money now" : <Moment at={dry} />}
      />
    </dl>
  );
}

type FigureProps = { readonly name: string; readonly value: string; readonly note: ReactNode };

function Figure({ name, value, note }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        <small>{note}</small>
      </dd>
    </div>
  );
}

function Spending() {
  const { by: asked, days = DAYS_USUAL } = route.useSearch();
  const by = SPLITS.find((split) => split === asked) ?? "instance";
  const navigate = route.useNavigate();
  const change = (changed: { readonly by?: Split; readonly days?: number }) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true });
  const spent = useQuery({
    ...ask("balance.days", billingSpendDays, { query: { by, days } }),
    placeholderData: keepPreviousData,
  });
  return (
    <Section title="Spending by day" actions={<Link to="/money/charges">All charges</Link>}>
      <div className={classes["choices"]}>
        <SegmentedControl
          size="xs"
          aria-label="Split by"
          data={SPLITS.map((value) => ({ value, label: SPLIT_WORDS[value] }))}
          value={by}
          onChange={(value) => change({ by: SPLITS.find((split) => split === value) ?? "instance" })}
        />
        <SegmentedControl
          size="xs"
          aria-label="Days"
          data={SPANS.map((span) => ({ value: String(span), label: `${span} d` }))}
          value={String(days)}
          onChange={(value) => change({ days: Number(value) })}
        />
      </div>
      <Answer query={spent} rows={6}>
        {(answer) => <Days answer={answer} />}
      </Answer>
    </Section>
  );
}

function Days({ answer: { days, series, total, by } }: { readonly answer: BillingSpendDaysAnswer }) {
  if (series.length === 0) {
    return (
      <EmptyState title={`Nothing was charged in these ${days.length} days`}>
        Each hour of running and each day of storage is charged here. <Link to="/market">Rent a machine</Link>, and its
        cost shows within the hour.
      </EmptyState>
    );
  }
  const names = series.map(({ name }) => name);
  const parts = series.map(({ id, name, amounts }) => {
    const isTwice = names.indexOf(name) !== names.lastIndexOf(name);
    return { label: id === "none" ? `No ${by}` : isTwice ? `${name} (${id})` : name, values: amounts };
  });
  return <StackedDays title={`${money(total)} in ${days.length} days`} days={days} parts={parts} format={money} />;
}
