import fc from "fast-check";

const CODE_POINT_MAX = 0x10ffff;
const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;

/**
 * Texts of any code points, lone surrogates included unless they are to be well-formed. fast-check's own texts of this kind
 * first build a table of all code points, which takes seconds in each process.
 */
export function textOfAny({ maxLength = 10, isWellFormed = false } = {}): fc.Arbitrary<string> {
  const codePoint = fc
    .oneof({ weight: 3, arbitrary: fc.nat({ max: 0xff }) }, fc.nat({ max: 0xffff }), fc.nat({ max: CODE_POINT_MAX }))
    .filter((point) => !isWellFormed || point < FIRST_SURROGATE || point > LAST_SURROGATE);
  return fc.array(codePoint, { maxLength }).map((points) => String.fromCodePoint(...points));
}
