import type Stripe from "stripe";
import { AppError } from "../../../../../base/errors.ts";

export type StripeSettings = {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** The address of Stripe's API; only tests use another one than the real one. */
  readonly apiUrl: string;
};

const REQUEST_TIMEOUT_MS = 20_000;
const REASON_LENGTH_MAX = 500;

/**
 * The official library, loaded at the first call, since a server without keys never needs it. A failed load is tried
 * again.
 */
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

/** True for Stripe's error of this type. Its message is for people and never decides anything. */
export function isErrorOf(error: unknown, type: string): error is Stripe.errors.StripeError {
  return error instanceof Error && "type" in error && error.type === type;
}

export function messageOf({ message }: Error): string {
  return message.slice(0, REASON_LENGTH_MAX) || "refused without a reason";
}

/** The error for a request to Stripe whose outcome is unknown. */
export function unavailable(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const text = "The payment provider could not be reached. Only the payments shown were charged; try again.";
  return new AppError("unavailable", "payment_provider_unavailable", text, { cause: error });
}
