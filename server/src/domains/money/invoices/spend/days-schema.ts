import { Type } from "typebox";
import { model } from "../../../../http/model.ts";
import { SPLITS } from "./rules/split.ts";

export const SpendDaysQuery = Type.Object(
  {
    by: Type.Optional(Type.Union(SPLITS.map((split) => Type.Literal(split)))),
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 92 })),
  },
  { additionalProperties: true },
);

export const SpendDays = Type.Object({
  success: Type.Literal(true),
  by: Type.String({ description: "The way in which spending is split", examples: ["label"] }),
  days: Type.Array(Type.Number(), {
    description: "Beginnings of the days (UTC), in seconds since 1970, the earliest first",
    examples: [[1_767_225_600]],
  }),
  total: Type.Number({ description: "Dollars in all", examples: [41.2] }),
  series: Type.Array(
    model("SpendSeries", {
      id: Type.String({
        description: "Part of the spending: a kind with an id, such as `instance:77`; `none` without one, and `others`",
        examples: ["label:training"],
      }),
      name: Type.String({ description: "Name of the part for people", examples: ["training"] }),
      total: Type.Number({ description: "Dollars of the part over all days", examples: [12.5] }),
      amounts: Type.Array(Type.Number(), { description: "Dollars of each day", examples: [[12.5]] }),
    }),
    { description: "At most 12 parts, the largest first; all others are the last one" },
  ),
});

const dollars = (description: string, example: number) => Type.Number({ description, examples: [example] });

export const SpendForecast = Type.Object({
  success: Type.Literal(true),
  balance: dollars("Credit less what has been used already, in dollars", 118.2),
  cost_per_hour: dollars("Cost of everything that runs or is stored now, in dollars an hour; without traffic", 3.42),
  today: dollars("Dollars that were charged today (UTC)", 21.5),
  month: dollars("Dollars charged in this month (UTC), and used and not charged yet", 210.4),
  month_forecast: dollars("Dollars of the whole month if all goes on as now", 890.1),
  month_end: Type.Number({ description: "End of the month, in seconds since 1970", examples: [1_769_904_000] }),
  runs_dry_at: Type.Union([Type.Number(), Type.Null()], {
    description:
      "Time at which the balance is used up if all goes on as now, in seconds since 1970; null when it never is",
    examples: [1_768_000_000],
  }),
});
