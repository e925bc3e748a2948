import { adminHoldPayouts, adminPayoutHolds, adminReleasePayouts } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printJsonLine } from "../../output.ts";

type Reasoned = ConnectionOptions & { readonly reason: string };

export async function listHolds(options: ConnectionOptions): Promise<void> {
  printJsonLine(await adminPayoutHolds(connect(options)));
}

export async function holdPayouts(host: string, { reason, ...options }: Reasoned): Promise<void> {
  printJsonLine(await adminHoldPayouts(connect(options), { body: { user: host, reason } }));
}

export async function releasePayouts(id: number, { reason, ...options }: Reasoned): Promise<void> {
  printJsonLine(await adminReleasePayouts(connect(options), { id, body: { reason } }));
}
