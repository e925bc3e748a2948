import { gone, type AppError } from "../../../../base/errors.ts";
import { formatDollars } from "../../../../base/money.ts";
import type { Listing } from "./rules/listing.ts";

/** The terms that renters of a listing agree to, for any size. */
type Terms = Pick<Listing, "priceNanosPerGbMonth" | "creditDiscountMaxPermille" | "endAt">;

/**
 * Terms that became worse for a renter, each as a clause for people; empty when the listing may keep its id. The size
 * is not compared: a rental that does not fit is refused.
 */
export function worsenings(before: Terms, after: Terms): readonly string[] {
  const worse: string[] = [];
  if (after.priceNanosPerGbMonth > before.priceNanosPerGbMonth) {
    const [from, to] = [formatDollars(before.priceNanosPerGbMonth), formatDollars(after.priceNanosPerGbMonth)];
    worse.push(`its price rose from $${from} to $${to} per GB and month`);
  }
  if (after.endAt < before.endAt) worse.push(`its end moved to ${textOf(after.endAt)} UTC`);
  if (after.creditDiscountMaxPermille < before.creditDiscountMaxPermille) {
    worse.push(`its largest discount fell to ${after.creditDiscountMaxPermille / 10} %`);
  }
  return worse;
}

/** The error for renting of a listing whose terms became worse; it names the listing that replaced it, if any. */
export function listingIsReplaced(
  before: Terms & { readonly id: number },
  after: (Terms & { readonly id: number }) | undefined,
): AppError {
  const changes = after === undefined ? [] : worsenings(before, after);
  const changed = changes.length === 0 ? "its terms changed" : changes.join(", and ");
  const price = after && `$${formatDollars(after.priceNanosPerGbMonth)} per GB and month`;
  const instead =
    after === undefined
      ? "Nothing is offered in its place."
      : `Volume offer ${after.id} took its place and costs ${price}.`;
  return gone("no_such_volume_offer", `Volume offer ${before.id} is no longer available: ${changed}. ${instead}`, {
    extra: { ask_id: before.id, ...(after && { new_ask_id: after.id }) },
  });
}

function textOf(at: Date): string {
  return at.toISOString().slice(0, 16).replace("T", " ");
}
