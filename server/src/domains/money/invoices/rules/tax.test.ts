import assert from "node:assert/strict";
import { test } from "node:test";
import { UNNAMED_SELLER } from "../seller.ts";
import { taxFor, type TaxRule } from "./tax.ts";

const rule = (ppm: number, isReverseCharged = false): TaxRule => ({ ppm, name: "VAT", note: "", isReverseCharged });
const seller = {
  ...UNNAMED_SELLER,
  country: "DE",
  taxPpm: 70_000,
  taxTable: new Map([
    ["DE", rule(190_000, true)],
    ["FR", rule(200_000, true)],
    ["GR", rule(240_000, true)],
    ["GB", rule(200_000)],
    ["*", rule(0)],
  ]),
};
const taxOf = (country: string, taxId = "") => {
  const { ppm, isReverseCharge } = taxFor(seller, { country, taxId });
  return [ppm, isReverseCharge];
};

test("a customer's country decides the tax, and a country that is not in the table has the general tax", () => {
  assert.deepEqual(
    [taxOf("DE"), taxOf(" fr "), taxOf("GB")],
    [
      [190_000, false],
      [200_000, false],
      [200_000, false],
    ],
  );
  assert.deepEqual(
    [taxOf("JP"), taxOf(""), taxOf("France")],
    [
      [0, false],
      [0, false],
      [0, false],
    ],
  );
  const plain = { ...seller, taxTable: new Map() };
  assert.equal(taxFor(plain, { country: "FR", taxId: "" }).ppm, 70_000, "without a table one rate holds for all");
});

test("a business in another country with a tax id of it is liable for the tax itself, when the table states it", () => {
  assert.deepEqual(taxOf("FR", "FR 12.345-678901"), [0, true]);
  assert.match(taxFor(seller, { country: "FR", taxId: "FR12345678901" }).note, /^Reverse charge/);
  assert.deepEqual(taxOf("GR", "EL123456789"), [0, true]);
  assert.deepEqual(taxOf("FR", ""), [200_000, false], "a private person pays");
  assert.deepEqual(taxOf("FR", "DE123456789"), [200_000, false], "an id of another country does not count");
  assert.deepEqual(taxOf("FR", "none"), [200_000, false]);
  assert.deepEqual(taxOf("DE", "DE123456789"), [190_000, false], "the seller's own country is not abroad");
  assert.deepEqual(taxOf("GB", "GB123456789"), [200_000, false], "the table does not say so of this country");
});
