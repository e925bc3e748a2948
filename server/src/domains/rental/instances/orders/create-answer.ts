import { storageNanosPerHour } from "../../../../base/hourly-price.ts";
import { epochSeconds } from "../../../../base/clock.ts";
import { toDollars } from "../../../../base/money.ts";
import type { NewInstance } from "../store.ts";

/** The prices of the agreed rental, under the names that offers and instances have. */
export type AgreedPrice = {
  readonly dph_total: number;
  readonly dph_base: number;
  readonly storage_total_cost: number;
  readonly storage_cost: number;
  readonly inet_up_cost: number;
  readonly inet_down_cost: number;
  readonly end_date: number;
};

/** Prices are missing in answers that an earlier version stored for a repetition. */
export type CreateAnswer = Partial<AgreedPrice> & {
  readonly success: true;
  readonly new_contract: number;
  readonly instance_api_key: string;
  readonly ask_id: number;
  /** The reason why it waits instead of running; absent when it runs. */
  readonly waiting?: string;
};

export function agreedPrice(instance: NewInstance): AgreedPrice {
  const disk = storageNanosPerHour(instance);
  return {
    dph_total: toDollars(instance.priceNanosPerHour + disk),
    dph_base: toDollars(instance.priceNanosPerHour),
    storage_total_cost: toDollars(disk),
    storage_cost: toDollars(instance.storageNanosPerGbMonth),
    inet_up_cost: toDollars(instance.inetUpNanosPerGb),
    inet_down_cost: toDollars(instance.inetDownNanosPerGb),
    end_date: epochSeconds(instance.endAt),
  };
}
