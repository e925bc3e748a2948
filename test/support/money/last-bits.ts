const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** An unused bit of the last base64url digit of 32 bytes: when it is flipped, the text spells the same bytes. */
export const SPELLING_BIT = 0b000001;
/** A bit of the last digit that counts. */
export const CONTENT_BIT = 0b000100;

/** The text with this bit of its last digit flipped. */
export function turnLastBit(text: string, bit: number): string {
  const digit = DIGITS[DIGITS.indexOf(text.slice(-1)) ^ bit];
  if (digit === undefined) throw new Error("the text does not end in base64url");
  return `${text.slice(0, -1)}${digit}`;
}
