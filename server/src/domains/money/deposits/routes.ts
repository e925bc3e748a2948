import { invalid } from "../../../base/errors.ts";
import type { InstanceId } from "../../../base/ids.ts";
import { parseDollars } from "../../../base/money.ts";
import { inSnapshot, type Tx } from "../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import {
  prepay,
  readDepositBalance,
  type DepositAccrualOf,
  type LockSpendable,
  type Settle,
} from "./deposit-service.ts";
import {
  acceptIncrease,
  acceptIncreaseOf,
  readIncreases,
  rejectIncrease,
  type IncreaseRequest,
} from "./price-service.ts";
import {
  DepositBalance,
  IdParams,
  IncreaseAnswer,
  IncreaseBody,
  OwnIncreaseBody,
  Prepaid,
  PrepayBody,
  PriceIncreases,
} from "./schema.ts";
import { viewBalance, viewIncrease, viewPrepaid } from "./views.ts";

/**
 * Use cases of the charging domain, which imports this domain and so cannot be imported here. `settle` charges what was
 * used so far.
 */
export type DepositPorts = {
  readonly settle: Settle;
  readonly lockSpendable: LockSpendable;
  readonly accrualOf: DepositAccrualOf;
  /** The fraction of hosts' earnings that the platform keeps. */
  readonly platformFee: number;
};

export function depositRoutes(scope: HttpScope, ports: DepositPorts): void {
  registerDeposits(scope, ports);
  registerPriceIncreases(scope, ports);
}

function registerDeposits({ app, database, clock, mutate }: HttpScope, ports: DepositPorts): void {
  const { accrualOf } = ports;
  app.put(
    "/api/v0/instances/prepay/:id/",
    {
      config: { access: { operation: "api.instance.prepay", permission: "instance_write", limit: "money" } },
      schema: {
        summary: "Reserve an on-demand instance by paying in advance",
        params: IdParams,
        body: PrepayBody,
        response: { 200: Prepaid },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const amount = parseDollars(request.body.amount);
        if (amount === undefined || amount <= 0n) {
          throw invalid("amount", "amount must be at least a billionth of a dollar");
        }
        const { userId, apiKeyId } = identityOf(request);
        return viewPrepaid(await prepay(tx, { userId, apiKeyId, instanceId: request.params.id, amount }, ports));
      }),
  );
  app.get(
    "/api/v0/instances/balance/:id/",
    {
      config: { access: { operation: "api.instance.deposit", permission: "instance_read" } },
      schema: { summary: "Show the deposit of an instance", params: IdParams, response: { 200: DepositBalance } },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const target = { userId, instanceId: request.params.id };
      return inSnapshot(database, async (db) =>
        viewBalance(await readDepositBalance({ db, now: clock.now(), accrualOf }, target)),
      );
    },
  );
}

const ANSWERS = {
  accept: { summary: "Accept a price increase: the rental goes on past its end date", work: acceptIncrease },
  reject: { summary: "Reject a price increase: the rental ends on its end date", work: rejectIncrease },
} as const satisfies Record<string, { summary: string; work: (tx: Tx, r: IncreaseRequest) => Promise<InstanceId> }>;

function registerPriceIncreases({ app, database, clock, mutate }: HttpScope, { platformFee }: DepositPorts): void {
  app.get(
    "/api/v0/instances/pending-price-increases/",
    {
      config: { access: { operation: "api.instance.list_price_increases", permission: "instance_read" } },
      schema: {
        summary: "List the price increases that hosts offer for a later end",
        response: { 200: PriceIncreases },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const { increases, isTruncated } = await readIncreases(database.kysely, clock.now(), userId);
      const rows = increases.map((increase) => viewIncrease(increase, platformFee));
      return { success: true as const, count: rows.length, truncated: isTruncated, pending_price_increases: rows };
    },
  );
  for (const verb of ["accept", "reject"] as const) {
    const { summary, work } = ANSWERS[verb];
    app.put(
      `/api/v0/instances/${verb}-price-increase/`,
      {
        config: { access: { operation: `api.instance.${verb}_price_increase`, permission: "instance_write" } },
        schema: { summary, body: IncreaseBody, response: { 200: IncreaseAnswer } },
      },
      (request) =>
        mutate(request, async (tx) => {
          const { pending_price_increase_id: increaseId, ...others } = request.body;
          const [unknown] = Object.keys(others);
          if (unknown !== undefined) {
            throw invalid(unknown, `${unknown} is not expected: send pending_price_increase_id and nothing else`);
          }
          const { userId, apiKeyId } = identityOf(request);
          const contractId = await work(tx, { userId, apiKeyId, increaseId });
          return { success: true as const, pending_price_increase_id: increaseId, contract_id: contractId };
        }),
    );
  }

  app.put(
    "/api/v0/instances/:id/accept-price-increase/",
    {
      config: { access: { operation: "api.instance.accept_own_price_increase", permission: "instance_write" } },
      schema: {
        summary: "Accept the price increase of an instance: the rental goes on past its end date",
        params: IdParams,
        body: OwnIncreaseBody,
        response: { 200: IncreaseAnswer },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { userId, apiKeyId } = identityOf(request);
        const accepted = await acceptIncreaseOf(tx, {
          userId,
          apiKeyId,
          instanceId: request.params.id,
          increaseId: request.body.pending_price_increase_id,
        });
        return {
          success: true as const,
          pending_price_increase_id: accepted.increaseId,
          contract_id: accepted.instanceId,
        };
      }),
  );
}
