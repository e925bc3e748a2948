import type Stripe from "stripe";
import { AppError } from "../../../../../base/errors.ts";

export type StripeSettings = {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Where Stripe's API is: another address than the real one for tests alone. */
  readonly apiUrl: string;
};

const REQUEST_TIMEOUT_MS = 20_000;
const REASON_LENGTH_MAX = 500;

/** The official library. It is loaded with the first call: a server without keys never needs it. A failure is not kept. */
export function stripeClient(settings: StripeSettings): () => Promise<Stripe> {
  let made: Promise<Stripe> | undefined;
  return () => {
    made ??= load(settings).catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

async function load({ secretKey, apiUrl }: StripeSettings): Promise<Stripe> {
  const { Stripe } = await import("stripe");
  const { protocol, hostname, port } = new URL(apiUrl);
  const isPlain = protocol === "http:";
  return new Stripe(secretKey, {
    host: hostname,
    port: port === "" ? (isPlain ? 80 : 443) : Number(port),
    protocol: isPlain ? "http" : "https",
    timeout: REQUEST_TIMEOUT_MS,
    maxNetworkRetries: 1,
    telemetry: false,
  });
}

/** Stripe's own word for what went wrong: never its message, which is for people. */
export function isErrorOf(error: unknown, type: string): error is Stripe.errors.StripeError {
  return error instanceof Error && "type" in error && error.type === type;
}

export function messageOf({ message }: Error): string {
  return message.slice(0, REASON_LENGTH_MAX) || "refused without a reason";
}

/** Nobody knows whether it was done. */
export function unavailable(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const text = "The payment provider could not be asked. Nothing was charged that is not shown; try again.";
  return new AppError("unavailable", "payment_provider_unavailable", text, { cause: error });
}
