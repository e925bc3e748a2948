import type { Clock } from "../base/clock.ts";
import type { InstanceId } from "../base/ids.ts";
import type { Encryption } from "../base/encryption.ts";
import type { Database } from "../db/connect.ts";
import { instanceKeyMaker, rootCertificate, workerTokenOf } from "../domains/rental/instances/for-assembly.ts";
import type { OrderDesk } from "../domains/rental/instances/index.ts";
import { Autoscaler, decide, updateTeller, WorkerReports, type Routers } from "../domains/serverless/index.ts";
import type { OfferRecord } from "../domains/supply/market/for-assembly.ts";

type Means = {
  readonly database: Database;
  readonly clock: Clock;
  readonly secret: Buffer;
  readonly encryption: Encryption;
  readonly desk: OrderDesk;
  readonly routers: Routers;
  readonly search: (query: Readonly<Record<string, unknown>>) => readonly OfferRecord[];
  /** The address to which workers report; undefined where the agents of their hosts tell it. */
  readonly reportAddress: string | undefined;
  /** The time for which reports without news are gathered before they are stored. */
  readonly gatherMs: number;
};

/** The loop that gives endpoints the workers they need, and the receiver of these workers' reports. */
export function createAutoscaling(means: Means): { readonly autoscaler: Autoscaler; readonly reports: WorkerReports } {
  const { secret, routers, clock } = means;
  const keyOf = instanceKeyMaker(secret);
  const tokenOf = (id: InstanceId) => workerTokenOf(keyOf(id).secret);
  const tellUpdate = updateTeller({ clock, rootCertificate: () => rootCertificate(means) });
  const autoscaler = new Autoscaler({ ...means, decide, tokenOf, tellUpdate });
  const reports = new WorkerReports({ ...means, onTurn: (id) => autoscaler.noteSoon(id) });
  routers.onPressure((id) => autoscaler.note(id));
  return { autoscaler, reports };
}
