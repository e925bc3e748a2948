// Screenshots as PNGs of at most 256 colours, which is a third of their size: pages have few colours besides the edges of
// their letters.
import { deflateSync, inflateSync, crc32 } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLOURS_MAX = 256;

type Picture = { readonly width: number; readonly height: number; readonly rgb: Buffer };

/** The same picture with a palette of its most frequent colours. It takes what a browser makes: 8 bits, RGB or RGBA, opaque. */
export function withPalette(png: Buffer): Buffer {
  const { width, height, rgb } = decode(png);
  const { palette, places } = paletteOf(rgb);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 3;
      rows[y * (width + 1) + 1 + x] = places.get(rgb.readUIntBE(at, 3)) ?? 0;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const data = deflateSync(rows, { level: 9, memLevel: 9 });
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", palette),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function decode(png: Buffer): Picture {
  const data: Buffer[] = [];
  let [width, height, channels] = [0, 0, 3];
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    const kind = png.toString("latin1", at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (kind === "IHDR") {
      [width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)];
      channels = body[9] === 6 ? 4 : 3;
      if (body[8] !== 8 || (body[9] !== 2 && body[9] !== 6) || body[12] !== 0) throw new Error("a PNG of another form");
    }
    if (kind === "IDAT") data.push(body);
    at += length + 12;
  }
  const lines = unfiltered(inflateSync(Buffer.concat(data)), width * channels, channels);
  const rgb = Buffer.alloc(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    lines.copy(rgb, pixel * 3, pixel * channels, pixel * channels + 3);
  }
  return { width, height, rgb };
}

/** The bytes of the lines without the filters that PNG puts over each. */
function unfiltered(raw: Buffer, lineBytes: number, channels: number): Buffer {
  const count = raw.length / (lineBytes + 1);
  const out = Buffer.alloc(lineBytes * count);
  for (let y = 0; y < count; y += 1) {
    const filter = raw[y * (lineBytes + 1)] ?? 0;
    for (let x = 0; x < lineBytes; x += 1) {
      const at = y * lineBytes + x;
      const left = x < channels ? 0 : (out[at - channels] ?? 0);
      const up = y === 0 ? 0 : (out[at - lineBytes] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (out[at - lineBytes - channels] ?? 0);
      out[at] = ((raw[y * (lineBytes + 1) + 1 + x] ?? 0) + predicted(filter, { left, up, corner })) & 255;
    }
  }
  return out;
}

type Neighbours = { readonly left: number; readonly up: number; readonly corner: number };

function predicted(filter: number, { left, up, corner }: Neighbours): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const guess = left + up - corner;
  const [byLeft, byUp, byCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}

/** The most frequent colours, and for each colour of the picture the place of the nearest of them. */
function paletteOf(rgb: Buffer): { readonly palette: Buffer; readonly places: ReadonlyMap<number, number> } {
  const counts = new Map<number, number>();
  for (let at = 0; at < rgb.length; at += 3) {
    const colour = rgb.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const kept = keptOf(counts);
  const places = new Map<number, number>();
  for (const colour of counts.keys()) places.set(colour, nearest(kept, colour));
  const palette = Buffer.alloc(kept.length * 3);
  for (const [place, colour] of kept.entries()) palette.writeUIntBE(colour, place * 3, 3);
  return { palette, places };
}

/** Colours by frequency, of which near ones are taken once. */
function keptOf(counts: ReadonlyMap<number, number>): readonly number[] {
  const byCount = [...counts].toSorted(([, one], [, other]) => other - one).map(([colour]) => colour);
  const kept: number[] = [];
  for (const leastDistance of [300, 40, 0]) {
    for (const colour of byCount) {
      if (kept.length === COLOURS_MAX) return kept;
      if (kept.every((one) => distance(one, colour) > leastDistance)) kept.push(colour);
    }
  }
  return kept;
}

function nearest(kept: readonly number[], colour: number): number {
  let [best, least] = [0, Infinity];
  for (const [place, one] of kept.entries()) {
    const apart = distance(one, colour);
    if (apart < least) [best, least] = [place, apart];
    if (apart === 0) break;
  }
  return best;
}

function distance(one: number, other: number): number {
  const red = (one >> 16) - (other >> 16);
  const green = ((one >> 8) & 255) - ((other >> 8) & 255);
  const blue = (one & 255) - (other & 255);
  return red * red + green * green + blue * blue;
}

function chunk(kind: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(kind, "latin1"), body]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(body.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
