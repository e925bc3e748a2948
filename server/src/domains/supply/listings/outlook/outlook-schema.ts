import { Type, type Static } from "typebox";
import { model } from "../../../../http/model.ts";

const START = 1_767_225_600;
const Success = Type.Literal(true);
const moment = (description: string) =>
  Type.Number({ description: `${description}, in seconds since the epoch`, examples: [START] });
const momentOrNull = (description: string) =>
  Type.Union([Type.Number(), Type.Null()], {
    description: `${description}, in seconds since the epoch`,
    examples: [null],
  });
const count = (description: string, example: number) => Type.Integer({ description, examples: [example] });
const price = (part: string) =>
  Type.Number({ description: `Dollars per GPU and hour below which ${part} of the GPUs are`, examples: [0.35] });

export const CalendarResponse = model("MachineCalendar", {
  success: Success,
  machine_id: Type.Integer({ description: "Id of the machine", examples: [12] }),
  from: moment("Beginning of the calendar, 90 days ago"),
  now: moment("Time of the answer"),
  listed_until: momentOrNull("Time until which it can be rented; null when it is not listed"),
  gpus: Type.Array(
    model("CalendarGpu", {
      position: count("Place of the GPU in the machine, from 0", 0),
      gpu_name: Type.String({ description: "Model of the GPU", examples: ["RTX 4090"] }),
      is_present: Type.Boolean({ description: "True while the GPU is part of the machine", examples: [true] }),
      intervals: Type.Array(
        model("CalendarInterval", {
          from: moment("Beginning of the rental of the GPU, not before the calendar's"),
          until: momentOrNull("End of the rental; null while it goes on"),
          kind: Type.Union([Type.Literal("on_demand"), Type.Literal("interruptible"), Type.Literal("reserved")], {
            description: "`on_demand`, `interruptible`, or `reserved` for one that goes on and is prepaid",
            examples: ["on_demand"],
          }),
          ends_at: momentOrNull("Agreed end of a rental that goes on; null for an earlier one"),
        }),
        { description: "Rentals of the GPU in the order of time, without names" },
      ),
    }),
    { description: "GPUs of the machine, or its cores where it has none" },
  ),
  maintenances: Type.Array(
    model("CalendarMaintenance", {
      from: moment("Beginning of the maintenance"),
      until: moment("End of the maintenance"),
    }),
    { description: "Announced maintenances that are not over" },
  ),
  is_cut: Type.Boolean({
    description: "True when it has more rentals than an answer holds; the oldest are left out",
    examples: [false],
  }),
});
export type CalendarResponse = Static<typeof CalendarResponse>;

const Band = model("PriceBand", {
  gpu_count: count("Number of GPUs behind the band", 40),
  host_count: count("Number of hosts behind the band", 7),
  p10: price("a tenth"),
  p25: price("a quarter"),
  p50: price("half"),
  p75: price("three quarters"),
  p90: price("nine tenths"),
});
const Withheld = model("WithheldBand", {
  gpu_count: count("Number of GPUs that there are", 4),
  host_count: count("Number of hosts that they are of, fewer than three", 1),
  withheld: Type.Literal(true, { description: "Always true: so few hosts would tell what one of them asks" }),
});
const band = (description: string) => Type.Union([Band, Withheld], { description });

export const PriceHintResponse = model("PriceHint", {
  success: Success,
  machine_id: Type.Integer({ description: "Id of the machine", examples: [12] }),
  gpu_name: Type.String({ description: "Model of its GPUs; empty without GPUs", examples: ["RTX 4090"] }),
  price_gpu: Type.Number({ description: "Dollars per GPU and hour that the machine asks", examples: [0.35] }),
  asked: band("Prices that other hosts ask for free GPUs of this model now"),
  rented: band("Prices at which GPUs of this model are rented from other hosts now"),
});
export type PriceHintResponse = Static<typeof PriceHintResponse>;
