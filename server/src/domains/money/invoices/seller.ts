import type { TaxSettings } from "./rules/tax.ts";

/** Who issues invoices, as the server's settings say. */
export type Seller = TaxSettings & {
  readonly name: string;
  readonly address: readonly string[];
  readonly taxId: string;
  /** Hosts with a tax id have agreed that the seller issues the invoices of what they supply to it. */
  readonly isSelfBilling: boolean;
  /** Before the year in every number; empty for none. */
  readonly numberPrefix: string;
};

/** A server whose settings do not say who runs it. */
export const UNNAMED_SELLER: Seller = {
  name: "Berth",
  address: [],
  taxId: "",
  country: "",
  taxTable: new Map(),
  taxPpm: 0,
  taxNote: "No tax is charged.",
  isSelfBilling: false,
  numberPrefix: "",
};
