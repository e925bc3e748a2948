import type { UserId } from "../../../../base/ids.ts";
import { ZERO, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { countLiveVolumes } from "../../../supply/volumes/for-instances.ts";
import { listVolumeCosts } from "../../../supply/volumes/index.ts";
import { listInstanceCosts, NO_COST } from "../rate-store.ts";
import { countShownInstances } from "./totals-store.ts";

export type SpendRate = {
  readonly runningNanosPerHour: Nanos;
  readonly instanceStorageNanosPerHour: Nanos;
  readonly volumeStorageNanosPerHour: Nanos;
  readonly hasResources: boolean;
};

/** The present cost of everything that the user runs and stores; consistent if `db` is a snapshot. */
export async function readSpendRate(db: Reader, userId: UserId): Promise<SpendRate> {
  const instances = (await listInstanceCosts(db, [userId])).get(userId) ?? NO_COST;
  const volumes = (await listVolumeCosts(db, [userId])).get(userId) ?? ZERO;
  const { instanceCount, volumeCount } = await countOwn(db, userId);
  return {
    runningNanosPerHour: instances.runningNanosPerHour,
    instanceStorageNanosPerHour: instances.storageNanosPerHour,
    volumeStorageNanosPerHour: volumes,
    hasResources: instanceCount + volumeCount > 0,
  };
}

/** The numbers of the user's instances and volumes, as many as their lists show. */
export async function countOwn(db: Reader, userId: UserId) {
  return {
    instanceCount: await countShownInstances(db, userId),
    volumeCount: await countLiveVolumes(db, userId),
  };
}
