import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Database } from "../../../db/connect.ts";
import type { PaymentProvider } from "./provider/provider.ts";

/** Ports that the use cases of this domain need besides the request. */
export type PaymentDependencies = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly provider: PaymentProvider;
};
