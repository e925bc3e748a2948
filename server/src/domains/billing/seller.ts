/** Who issues invoices, as the server's settings say. */
export type Seller = {
  readonly name: string;
  readonly address: readonly string[];
  readonly taxId: string;
  /** Prices include it. In millionths: 190000 for 19 %. */
  readonly taxPpm: number;
  /** What the law wants said of it. */
  readonly taxNote: string;
  /** Before the year in every number; empty for none. */
  readonly numberPrefix: string;
};

/** A server whose settings do not say who runs it. */
export const UNNAMED_SELLER: Seller = {
  name: "Berth",
  address: [],
  taxId: "",
  taxPpm: 0,
  taxNote: "No tax is charged.",
  numberPrefix: "",
};
