const PPM = 1_000_000;
/**
 * The published discount curve: 0 % without prepayment, 20 % for one month, 30 % for three; then on at the same slope.
 */
const CURVE = [
  { months: 0, ppm: 0 },
  { months: 1, ppm: 200_000 },
  { months: 3, ppm: 300_000 },
] as const;
/** The highest discount of the curve; a host with another maximum scales the whole curve. */
const CURVE_MAX_PPM = 400_000;
/** The highest discount of any host. */
const DISCOUNT_MAX_PERMILLE = 500;

/**
 * The discount on the running price for this many prepaid months, in millionths: the published curve, at most 40 %,
 * scaled to the highest discount that the host grants.
 */
export function discountPpm(months: number, creditDiscountMaxPermille: number): number {
  if (!(months > 0)) return 0;
  const [zero, one, three] = CURVE;
  const [from, to] = months < one.months ? [zero, one] : [one, three];
  const ppm = from.ppm + ((months - from.months) * (to.ppm - from.ppm)) / (to.months - from.months);
  const granted = Math.min(creditDiscountMaxPermille, DISCOUNT_MAX_PERMILLE) * (PPM / 1000);
  return Math.round((Math.min(ppm, CURVE_MAX_PPM) * granted) / CURVE_MAX_PPM);
}
