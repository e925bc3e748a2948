const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Base32 of RFC 4648 without padding, in which authenticator apps take secrets. */
export function toBase32(bytes: Buffer): string {
  let text = "";
  let [bits, bitCount] = [0, 0];
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xfff;
    bitCount += 8;
    while (bitCount >= 5) {
      bitCount -= 5;
      text += ALPHABET[(bits >> bitCount) & 31];
    }
  }
  return bitCount === 0 ? text : text + ALPHABET[(bits << (5 - bitCount)) & 31];
}

/** The bytes of a base32 text; undefined when it has other characters. Case, spaces and padding do not matter. */
export function fromBase32(text: string): Buffer | undefined {
  const bytes: number[] = [];
  let [bits, bitCount] = [0, 0];
  for (const character of text.toUpperCase().replace(/[\s=]/g, "")) {
    const value = ALPHABET.indexOf(character);
    if (value < 0) return undefined;
    bits = ((bits << 5) | value) & 0xfff;
    bitCount += 5;
    if (bitCount < 8) continue;
    bitCount -= 8;
    bytes.push((bits >> bitCount) & 255);
  }
  return Buffer.from(bytes);
}
