import type { TaxSettings } from "./rules/tax.ts";

/** The seller on invoices, from the server's settings. */
export type Seller = TaxSettings & {
  readonly name: string;
  readonly address: readonly string[];
  readonly taxId: string;
  /** True when the seller issues the invoices for supplies of hosts with a tax id, who have agreed to it. */
  readonly isSelfBilling: boolean;
  /** The prefix before the year in every number; empty for none. */
  readonly numberPrefix: string;
};

/** The seller of a server whose settings do not name its operator. */
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
