import { decodeValue, encodeValue } from "./code.ts";
import { Grid } from "./grid.ts";
import type { SeriesKey } from "./series.ts";

// A block holds the points of one subject in equal steps: a format byte, 1 if it has maxima, the number of points (2
// bytes) and of series (2); then for each series its key (2), the codes of its means, and those of its maxima. All
// numbers begin with their low byte. Series without a known value are left out.
const FORMAT = 1;
const HEADER_BYTES = 6;
const CODE_BYTES = 2;

/** The finest points are single readings: their maxima are themselves and are not stored. */
export type BlockShape = { readonly hasMaxima: boolean };

export function encodeBlock(grid: Grid, { hasMaxima }: BlockShape): Buffer {
  const series = grid.series();
  const seriesBytes = CODE_BYTES + grid.count * CODE_BYTES * (hasMaxima ? 2 : 1);
  const content = Buffer.allocUnsafe(HEADER_BYTES + series.length * seriesBytes);
  let offset = content.writeUInt8(FORMAT, 0);
  offset = content.writeUInt8(hasMaxima ? 1 : 0, offset);
  offset = content.writeUInt16LE(grid.count, offset);
  offset = content.writeUInt16LE(series.length, offset);
  for (const [key, { means, maxima }] of series) {
    offset = content.writeUInt16LE(key, offset);
    for (const mean of means) offset = content.writeUInt16LE(encodeValue(mean), offset);
    if (hasMaxima) for (const maximum of maxima) offset = content.writeUInt16LE(encodeValue(maximum), offset);
  }
  return content;
}

export type Block = { readonly beginsS: number; readonly stepS: number; readonly content: Buffer };

/** Calls back for each known point of a block; one of an unknown format has none. */
export function readBlock(
  { beginsS, stepS, content }: Block,
  onPoint: (key: SeriesKey, atS: number, mean: number, maximum: number) => void,
): void {
  if (content[0] !== FORMAT || content.length < HEADER_BYTES) return;
  const hasMaxima = content[1] === 1;
  const [count, seriesCount] = [content.readUInt16LE(2), content.readUInt16LE(4)];
  let offset = HEADER_BYTES;
  for (let index = 0; index < seriesCount; index += 1) {
    const key = content.readUInt16LE(offset);
    const means = offset + CODE_BYTES;
    const maxima = hasMaxima ? means + count * CODE_BYTES : means;
    for (let place = 0; place < count; place += 1) {
      const mean = decodeValue(content.readUInt16LE(means + place * CODE_BYTES));
      if (Number.isNaN(mean)) continue;
      onPoint(key, beginsS + place * stepS, mean, decodeValue(content.readUInt16LE(maxima + place * CODE_BYTES)));
    }
    offset = maxima + count * CODE_BYTES;
  }
}

/** One block of several that follow each other, with the same points; gaps between them are unknown points. */
export function joinBlocks(blocks: readonly Block[], span: Pick<Grid, "fromS" | "stepS" | "count">): Buffer {
  const grid = new Grid(span);
  for (const block of blocks) {
    readBlock(block, (key, atS, mean, maximum) => grid.note(key, atS, mean, maximum));
  }
  return encodeBlock(grid, { hasMaxima: true });
}
