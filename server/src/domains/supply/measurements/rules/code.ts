// Values of measurements in 16 bits: whole numbers up to 2,047 exactly, larger ones to 11 binary digits, which is 0.05 %
// at most. The codes of larger values are larger.

/** The code of an unknown value. */
export const NO_CODE = 0xffff;
const DIGITS = 10;
const EXACT = 2 ** (DIGITS + 1);
/** Beyond any true reading: bytes of a machine are fewer. */
const VALUE_MAX = 2 ** 53;

/** The code of a value; values that no reading can have get the code of an unknown one or of the nearest possible. */
export function encodeValue(value: number): number {
  if (Number.isNaN(value)) return NO_CODE;
  const whole = Math.round(Math.min(Math.max(value, 0), VALUE_MAX));
  if (whole < EXACT) return whole;
  const shift = Math.floor(Math.log2(whole)) - DIGITS;
  // Rounding may reach the next power of two, whose code follows by itself.
  return (shift << DIGITS) + Math.round(whole / 2 ** shift);
}

/** The value of a code; not a number for an unknown one. */
export function decodeValue(code: number): number {
  if (code < EXACT) return code;
  if (code === NO_CODE) return Number.NaN;
  const shift = (code >> DIGITS) - 1;
  return (code - (shift << DIGITS)) * 2 ** shift;
}
