import type { Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";
import { readAuditState } from "../../money/audit/for-administration.ts";
import { readHouse, type House } from "../../money/ledger/for-administration.ts";
import { countPayouts } from "../../money/payments/for-administration.ts";
import { countInstancesByPhase } from "../../rental/instances/for-administration.ts";
import { readQueueLength } from "../../rental/queue/for-administration.ts";
import { countServerless } from "../../serverless/for-administration.ts";
import { countMachineStates, countOpenFlags } from "../../supply/hosts/for-administration.ts";
import { occupancyOf, type ModelCounts } from "./rules/gpus.ts";
import { countModels } from "./service.ts";

const DAY_MS = 86_400_000;

/** Figures of the whole market for machines that watch it. */
export type MarketFigures = {
  readonly models: readonly ModelCounts[];
  readonly occupancy: number | undefined;
  readonly machines: { readonly total: number; readonly connected: number; readonly listed: number };
  readonly instances: ReadonlyMap<string, number>;
  readonly house: House;
  readonly payouts: {
    readonly waitingCount: number;
    readonly waitingAmount: Nanos;
    readonly failedCount: number;
    readonly holdCount: number;
  };
  readonly queue: { readonly openCount: number; readonly oldestAt: Date | undefined };
  readonly endpoints: { readonly active: number; readonly workers: number };
  readonly flagCount: number;
  readonly audit: { readonly reconciledAt: Date | undefined; readonly alarmCount: number };
};

/**
 * Reads what a monitor asks for again and again. Unlike the overview it counts nothing over a month, and no instances that
 * have ended: its cost grows with what there is now, and not with the age of the market.
 */
export async function readMarketFigures(db: Reader, now: Date): Promise<MarketFigures> {
  const dayAgo = new Date(now.getTime() - DAY_MS);
  const models = await countModels(db, now);
  const { reconciledAt, alarmCount } = await readAuditState(db, dayAgo);
  return {
    models,
    occupancy: occupancyOf(models),
    machines: await countMachineStates(db),
    instances: await countInstancesByPhase(db),
    house: await readHouse(db, { day: dayAgo, month: dayAgo }),
    payouts: await countPayouts(db, dayAgo),
    queue: await readQueueLength(db),
    endpoints: await countServerless(db),
    flagCount: await countOpenFlags(db),
    audit: { reconciledAt, alarmCount },
  };
}
