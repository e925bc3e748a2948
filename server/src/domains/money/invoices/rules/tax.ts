import { invariant } from "../../../../base/invariant.ts";
import { parseDollars } from "../../../../base/money.ts";

const PPM = 1_000_000n;
/** Nano-dollars per millionth: a percentage is parsed like dollars. */
const NANOS_PER_PPM = 100_000n;

/** The tax for customers of one country. */
export type TaxRule = {
  /** The rate in millionths; prices include the tax. */
  readonly ppm: number;
  /** The name of the tax in the country, such as VAT. */
  readonly name: string;
  /** The sentence about the tax on invoices. */
  readonly note: string;
  /** True when businesses of the country pay the tax themselves, if the seller is in another country. */
  readonly isReverseCharged: boolean;
};

/** Rules by country (ISO 3166, two letters); `*` is for all other and unknown countries. */
export type TaxTable = ReadonlyMap<string, TaxRule>;

/** Settings of a seller from which the tax of an invoice follows. */
export type TaxSettings = {
  /** The seller's country, two letters of ISO 3166; empty when it does not matter. */
  readonly country: string;
  /** Taxes by the customer's country; empty for one rate for all. */
  readonly taxTable: TaxTable;
  /** Rate for countries that the table does not have, in millionths: 190000 for 19 %. Prices include it. */
  readonly taxPpm: number;
  /** Sentence on invoices that the law asks for. */
  readonly taxNote: string;
};

/** The tax of one invoice. */
export type AppliedTax = {
  readonly ppm: number;
  readonly name: string;
  readonly note: string;
  /** Empty when the customer did not state a country. */
  readonly country: string;
  readonly isReverseCharge: boolean;
};

const REVERSE_CHARGE_NOTE = "Reverse charge: the recipient of the service is liable for the tax.";
/** Tax ids begin with the code of the country, except in Greece. */
const TAX_ID_PREFIXES: Readonly<Record<string, string>> = { GR: "EL" };

/**
 * The tax that an invoice to this customer includes. Customers state their country and tax id themselves; prices
 * include tax, so a false statement saves them nothing. An id that does not have the form of the country's ids does not
 * count.
 */
export function taxFor(seller: TaxSettings, buyer: { readonly country: string; readonly taxId: string }): AppliedTax {
  const said = buyer.country.trim().toUpperCase();
  const country = /^[A-Z]{2}$/.test(said) ? said : "";
  const fallback: TaxRule = { ppm: seller.taxPpm, name: "Tax", note: seller.taxNote, isReverseCharged: false };
  const rule = seller.taxTable.get(country) ?? seller.taxTable.get("*") ?? fallback;
  const isAbroad = country !== "" && country !== seller.country;
  if (rule.isReverseCharged && isAbroad && isTaxIdOf(country, buyer.taxId)) {
    return { ppm: 0, name: rule.name, note: REVERSE_CHARGE_NOTE, country, isReverseCharge: true };
  }
  return { ppm: rule.ppm, name: rule.name, note: rule.note, country, isReverseCharge: false };
}

/** True when a customer states to be a business of their country: their tax id has the country's form. */
export function hasTaxId({ country, taxId }: { readonly country: string; readonly taxId: string }): boolean {
  const code = country.trim().toUpperCase();
  return /^[A-Z]{2}$/.test(code) && isTaxIdOf(code, taxId);
}

/** The tax in an amount that includes it, in cents. Half a cent is rounded away from zero. */
export function taxWithin(totalCents: number, ppm: number): number {
  const [total, rate] = [BigInt(Math.abs(totalCents)), BigInt(ppm)];
  const tax = Number((2n * total * rate + PPM + rate) / (2n * (PPM + rate)));
  return totalCents < 0 ? -tax : tax;
}

/** Parses a percentage as documents store it, into millionths. */
export function ppmOf(percent: string): number {
  const parsed = parseDollars(percent);
  invariant(parsed !== undefined, `${percent} is no percentage`);
  return Number(parsed / NANOS_PER_PPM);
}

function isTaxIdOf(country: string, taxId: string): boolean {
  const id = taxId.toUpperCase().replaceAll(/[\s.-]/g, "");
  return /^[A-Z]{2}[A-Z0-9]{4,14}$/.test(id) && id.startsWith(TAX_ID_PREFIXES[country] ?? country);
}
