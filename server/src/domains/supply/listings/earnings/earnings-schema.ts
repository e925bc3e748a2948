import { Type } from "typebox";
import { model } from "../../../../http/model.ts";
import { DayEarnings, MachineEarnings, TOTALS } from "../schema.ts";

const Text = Type.Optional(Type.String());
const Success = Type.Literal(true);
const NONE = "always 0: this server";

const sums = {
  gpu_earn: Type.Number(),
  sto_earn: Type.Number(),
  bwu_earn: Type.Number(),
  bwd_earn: Type.Number(),
  sla_earn: Type.Number({ description: `Dollars for service levels, ${NONE} sells none`, examples: [0] }),
  referral_earn: Type.Number({ description: `Dollars for referrals, ${NONE} pays none`, examples: [0] }),
  referral_count: Type.Integer({ description: `Number of referrals, ${NONE} counts none`, examples: [0] }),
  total_earn: Type.Number({ description: "Dollars earned with everything", examples: [124.4] }),
};
const day = Type.Integer({ description: "The day (UTC), in days since 1970", examples: [20_454] });

export const ShownEarnings = Type.Object({
  referral_count: sums.referral_count,
  referral_credits: Type.Number({ description: `Dollars of credit for referrals, ${NONE} pays none`, examples: [0] }),
  machine_earnings: Type.Optional(
    Type.Number({
      description: "Dollars that machines earned so far; absent for who hosts nothing",
      examples: [124.4],
    }),
  ),
  sla_earnings: Type.Optional(sums.sla_earn),
  sla_collateral: Type.Optional(
    Type.Number({ description: `Dollars set aside for service levels, ${NONE} sells none`, examples: [0] }),
  ),
});

export const EarningsDataResponse = model("EarningsData", {
  success: Success,
  machine_earnings: Type.Object({
    summary: Type.Object(TOTALS, { title: "EarningsReportSummary" }),
    per_machine: Type.Array(MachineEarnings),
    per_day: Type.Array(DayEarnings),
  }),
  referral_earnings: Type.Array(model("ReferralEarnings", { day, earn_referral: sums.referral_earn })),
  referral_count: Type.Array(model("ReferralCount", { day, referral_count: sums.referral_count })),
});

export const EarningsPageQuery = Type.Object({
  group_by: Text,
  select_filters: Text,
  order_by: Text,
  limit: Type.Optional(Type.Number()),
  after_token: Text,
});
export const EarningsPageResponse = model("EarningsPage", {
  success: Success,
  total_rows: Type.Integer({ description: "Number of rows on all pages", examples: [30] }),
  rows_found: Type.Integer({ description: "Number of rows on this page", examples: [30] }),
  rows: Type.Array(
    model("EarningsRow", {
      day: Type.Optional(day),
      machine_id: Type.Optional(
        Type.Union([Type.Integer(), Type.Null()], {
          description: "Id of the machine; null for what no machine earned, such as rent of network disks",
          examples: [12],
        }),
      ),
      ...sums,
    }),
  ),
  next_token: Type.Union([Type.String(), Type.Null()]),
  total: model("EarningsSums", sums),
});

export const SummaryResponse = Type.Object({
  success: Success,
  summary: model("EarningsSummary", {
    ...sums,
    reliability: Type.Union([Type.Number(), Type.Null()], {
      description: "Mean reliability of the host's machines, from 0 to 1; null without machines",
      examples: [0.9987],
    }),
  }),
});

export const EarningsChartQuery = Type.Object({ select_filters: Text });
export const EarningsChartResponse = Type.Object({
  success: Success,
  chart: Type.Array(model("EarningsChartDay", { day, ...sums }), {
    description: "Every day of the window, the earliest first, days that earned nothing too",
  }),
  total: model("EarningsSums", sums),
});
