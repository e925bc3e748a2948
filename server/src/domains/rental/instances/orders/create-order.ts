import type { InstanceId, TemplateId, UserId } from "../../../../base/ids.ts";
import type { Nanos } from "../../../../base/money.ts";
import type { Repeatable } from "../../../../db/idempotency.ts";
import type { CapScope } from "../../../money/ledger/index.ts";
import type { VolumeInfo } from "../../../supply/volumes/index.ts";
import type { EncryptedLaunch } from "../../templates/index.ts";

/** One order for an instance. Everything that needs no lock was read and checked before. */
export type CreateOrder = {
  readonly instanceId: InstanceId;
  readonly userId: UserId;
  readonly offerId: number;
  readonly launch: EncryptedLaunch;
  readonly template: { readonly id: TemplateId; readonly hashId: string } | undefined;
  readonly volumeInfo: VolumeInfo | undefined;
  /** A price makes it interruptible: the bid for the whole rental. */
  readonly bidNanosPerHour: Nanos | undefined;
  /** What its traffic may cost in all; undefined for the account's limit, or the budget. */
  readonly trafficLimitNanos?: Nanos | undefined;
  readonly target: "running" | "stopped";
  /** Whether an order that cannot run now is refused instead of waiting. */
  readonly isRefusedUnlessRunning: boolean;
  /** What the rental may cost at most, its disk included: the price may have risen since it was looked up. */
  readonly totalMaxNanosPerHour?: Nanos | undefined;
  /** Whose limits its spending counts against, besides its account's and its own. */
  readonly capScopes: readonly CapScope[];
  readonly instanceKey: { readonly secret: string; readonly sha256: Buffer; readonly prefix: string };
  readonly repeatable: Repeatable | undefined;
};
