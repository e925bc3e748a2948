import { notFound } from "../../../../base/errors.ts";
import { toDollars } from "../../../../base/money.ts";
import { inSnapshot } from "../../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { CountAnswer, CountsAnswer, SpendRateAnswer } from "./totals-schema.ts";
import { countOwn, readSpendRate } from "./totals-service.ts";
import { countShownInstances } from "./totals-store.ts";

/** Numbers of the caller's instances and volumes, and their cost an hour. */
export function totalsRoutes({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/instances/count/",
    {
      config: { access: { operation: "api.instance.count", permission: "instance_read" } },
      schema: { summary: "Count own instances", response: { 200: CountAnswer } },
    },
    async (request) => ({ count: await countShownInstances(database.kysely, identityOf(request).userId) }),
  );
  app.get(
    "/api/v1/counts/",
    {
      config: { access: { operation: "api.instance.counts", permission: "instance_read" } },
      schema: { summary: "Count own instances and volumes", response: { 200: CountsAnswer } },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const { instanceCount, volumeCount } = await inSnapshot(database, (db) => countOwn(db, userId));
      return { data: { total_instances: instanceCount, total_volumes: volumeCount } };
    },
  );
  app.get(
    "/api/v1/instances/lite/",
    {
      config: { access: { operation: "api.instance.lite", permission: "instance_read" } },
      schema: { summary: "Switched off, as in the published API" },
    },
    async () => {
      throw notFound("switched_off", "This list is switched off. Use GET /api/v1/instances/.");
    },
  );
  app.get(
    "/api/v0/users/spend-rate/",
    {
      config: { access: { operation: "api.user.spend_rate", permission: "user_read" } },
      schema: {
        tags: ["Accounts"],
        summary: "Show what everything costs an hour",
        response: { 200: SpendRateAnswer },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const rate = await inSnapshot(database, (db) => readSpendRate(db, userId));
      return {
        success: true as const,
        gpu_cost_per_hour: toDollars(rate.runningNanosPerHour),
        container_storage_cost_per_hour: toDollars(rate.instanceStorageNanosPerHour),
        volume_storage_cost_per_hour: toDollars(rate.volumeStorageNanosPerHour),
        has_active_resources: rate.hasResources,
      };
    },
  );
}
