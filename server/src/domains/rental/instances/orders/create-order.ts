import type { InstanceId, TemplateId, UserId } from "../../../../base/ids.ts";
import type { Nanos } from "../../../../base/money.ts";
import type { Repeatable } from "../../../../db/idempotency.ts";
import type { CapScope } from "../../../money/ledger/index.ts";
import type { VolumeInfo } from "../../../supply/volumes/for-instances.ts";
import type { EncryptedLaunch } from "../../templates/index.ts";

/** One order for an instance. Everything that needs no lock was read and checked before. */
export type CreateOrder = {
  readonly instanceId: InstanceId;
  readonly userId: UserId;
  readonly offerId: number;
  /** The bundle that searches show the offer in; undefined where no search shows it. */
  readonly bundleId?: number | undefined;
  readonly launch: EncryptedLaunch;
  readonly template: { readonly id: TemplateId; readonly hashId: string } | undefined;
  readonly volumeInfo: VolumeInfo | undefined;
  /** The bid for the whole rental, which makes it interruptible. */
  readonly bidNanosPerHour: Nanos | undefined;
  /** The limit of all its traffic costs; undefined for the account's limit, or the budget. */
  readonly trafficLimitNanos?: Nanos | undefined;
  readonly target: "running" | "stopped";
  /** True when an order that cannot run now is refused instead of waiting. */
  readonly isRefusedUnlessRunning: boolean;
  /** The highest price of the rental, disk included: the price may have risen since it was looked up. */
  readonly totalMaxNanosPerHour?: Nanos | undefined;
  /** The scopes whose caps its spending counts against, besides its account's and its own. */
  readonly capScopes: readonly CapScope[];
  readonly instanceKey: { readonly secret: string; readonly sha256: Buffer; readonly prefix: string };
  readonly repeatable: Repeatable | undefined;
};
