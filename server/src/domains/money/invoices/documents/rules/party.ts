import type { User } from "../../../../people/accounts/index.ts";
import type { Seller } from "../../seller.ts";

/** A party of a document, with its name on the day of issue. */
export type Party = {
  readonly name: string;
  readonly address: readonly string[];
  readonly tax_id: string;
};

/** The account that a document is for. */
export type AccountParty = Party & { readonly user_id: number; readonly email: string };

export function sellerParty({ name, address, taxId }: Seller): Party {
  return { name, address, tax_id: taxId };
}

/** `user` is undefined for an account that was deleted. */
export function buyerOf(user: User | undefined, userId: number): AccountParty {
  if (user === undefined) return { user_id: userId, name: `Account ${userId}`, email: "", address: [], tax_id: "" };
  const { fullname, username, email, billing } = user;
  const town = [billing.zip, billing.city].filter((part) => part !== "").join(" ");
  return {
    user_id: userId,
    name: fullname || username,
    email,
    address: [billing.line1, billing.line2, town, billing.country].filter((line) => line !== ""),
    tax_id: billing.taxinfo,
  };
}
