import type { FastifyRequest } from "fastify";
import { invalid } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { HttpScope } from "../../../http/server.ts";
import type { PaymentProvider } from "./provider/provider.ts";
import type { PayoutDependencies } from "./payouts/payout-service.ts";

/** The ports that the routes need beyond the database. */
export type PaymentPorts = {
  readonly provider: PaymentProvider;
  readonly encryption: Encryption;
  readonly log: Log;
  /** The address to which users return from the provider's page; undefined for the address that they called. */
  readonly publicUrl: string | undefined;
};

export const BILLING_TAGS = ["Billing"];
export const HOST_TAGS = ["Payouts"];
export const ADMIN_TAGS = ["Administration"];
export const RETURN_PATH = "/api/v0/billing/returned/";

export function dependenciesOf({ database, clock }: HttpScope, ports: PaymentPorts): PayoutDependencies {
  return { database, clock, provider: ports.provider, encryption: ports.encryption, log: ports.log };
}

export function returnUrlOf({ publicUrl }: PaymentPorts, request: FastifyRequest): string {
  const base = publicUrl ?? `${request.protocol}://${request.host}`;
  if (!URL.canParse(RETURN_PATH, base)) throw invalid("host", "The Host header of the request names no host.");
  return new URL(RETURN_PATH, base).href;
}
