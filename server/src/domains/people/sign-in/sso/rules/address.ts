import type { SsoProblem } from "../problems.ts";

/** An account that names an address as its own. */
export type Claimant<Id> = {
  readonly userId: Id;
  readonly isProven: boolean;
  readonly isAdmin: boolean;
  /** True when another person of the issuer signs in to it already. */
  readonly isAnothers: boolean;
};

export type AddressDecision<Id> =
  | { readonly kind: "new" }
  | { readonly kind: "link"; readonly userId: Id }
  | { readonly kind: "refuse"; readonly problem: SsoProblem };

/**
 * Decides about an unknown person whose address accounts here name too. Only two proofs join an account to a person: the
 * issuer vouches for the address, and the account has proven it. With one of them alone, a liar would gain an account: at
 * the issuer by typing the address of somebody here, or here by claiming the address of somebody there. An address that
 * changed hands opens no account that has a person already, and no address opens an administrator's.
 *
 * An address that nobody here has proven goes with a new account to the person for whom the issuer vouches. Accounts that
 * claim it lose the address and nothing else, as when another account proves it by mail.
 */
export function decideAddress<Id>(isVerified: boolean, claimants: readonly Claimant<Id>[]): AddressDecision<Id> {
  if (claimants.length === 0) return { kind: "new" };
  if (!isVerified) return { kind: "refuse", problem: "sso_address_unverified" };
  // An administrator's account keeps what it claims: one lie of the issuer must not take the name by which they sign in.
  if (claimants.some(({ isAdmin }) => isAdmin)) return { kind: "refuse", problem: "sso_administrator" };
  const owner = claimants.find(({ isProven }) => isProven);
  if (owner === undefined) return { kind: "new" };
  return owner.isAnothers ? { kind: "refuse", problem: "sso_other_person" } : { kind: "link", userId: owner.userId };
}
