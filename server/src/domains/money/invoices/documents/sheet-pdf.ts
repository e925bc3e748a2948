import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import PDFDocument from "pdfkit";
import type { Sheet, SheetParty, SheetRow, SheetTable } from "./rules/sheet.ts";
import { unpackWoff } from "./woff.ts";

type Pdf = InstanceType<typeof PDFDocument>;

const { resolve } = createRequire(import.meta.url);
/**
 * Fonts that are embedded, since PDF readers bring Latin only. DejaVu has Latin, Greek, Cyrillic, Armenian, Georgian,
 * Hebrew and Arabic; Unifont, drawn on a coarse grid, has every other script of Unicode's first plane.
 */
const FONTS = {
  regular: resolve("@fontsource/dejavu-sans/files/dejavu-sans-latin-400-normal.woff"),
  bold: resolve("@fontsource/dejavu-sans/files/dejavu-sans-latin-700-normal.woff"),
  other: resolve("@fontsource/unifont/files/unifont-latin-400-normal.woff"),
} as const;
type Weight = "regular" | "bold";
const NAMES = ["regular", "bold", "other"] as const;

const MARGIN = 50;
const [SIZE, SIZE_MIN, NOTE_SIZE] = [9, 6.5, 7.5];
const GREY = "#555555";
const BLACK = "#1a1a1a";
const LIGHT = "#c8c8c8";
/** The width of an A4 sheet between its margins, in points. */
const WIDTH = 595.28 - 2 * MARGIN;
/** Points between the columns of a table, and above and below the text of a row. */
const [GAP, PADDING] = [10, 4];
/** Tables up to this height, in points, are not broken over pages. */
const KEPT_WHOLE = 280;

/** The document as a PDF: the words and amounts of the page, as text that can be searched and copied. */
export async function renderSheetPdf(sheet: Sheet): Promise<Buffer> {
  const title = `${sheet.title} ${sheet.number}`;
  const pdf = new PDFDocument({
    size: "A4",
    margin: MARGIN,
    bufferPages: true,
    lang: "en",
    displayTitle: true,
    font: "", // Else it loads one of its own first.
    info: { Title: title, Author: sheet.issuer, CreationDate: sheet.issuedAt },
  });
  const chunks: Buffer[] = [];
  const whole = new Promise<Buffer>((done, failed) => {
    pdf.on("data", (chunk: Buffer) => void chunks.push(chunk));
    pdf.on("end", () => done(Buffer.concat(chunks)));
    pdf.on("error", failed);
  });
  // The large font is read only for a document that has its letters.
  const names = OTHER_SCRIPTS.test(JSON.stringify(sheet)) ? NAMES : NAMES.filter((name) => name !== "other");
  for (const name of names) pdf.registerFont(name, readFont(name));
  drawHead(pdf, sheet);
  for (const table of sheet.tables) drawTable(pdf, table);
  for (const note of sheet.notes) drawNote(pdf, note);
  drawFooters(pdf, sheet.issuer, title);
  pdf.end();
  return whole;
}

function readFont(name: keyof typeof FONTS): Buffer {
  return unpackWoff(readFileSync(FONTS[name]));
}

function drawHead(pdf: Pdf, { title, number, subtitle, parties, facts }: Sheet): void {
  pdf.font("bold").fontSize(18).fillColor(BLACK).text(`${title} ${number}`, MARGIN, MARGIN, { width: WIDTH });
  if (subtitle !== "") {
    pdf.fontSize(SIZE);
    drawText(pdf, subtitle, "regular", { x: MARGIN, y: pdf.y + 2, width: WIDTH });
  }
  pdf.fontSize(SIZE);
  const top = pdf.y + 16;
  const width = (WIDTH - 2 * GAP) / 3;
  const bottoms = parties.map((party, index) =>
    drawParty(pdf, party, { x: MARGIN + index * (width + GAP), y: top, width }),
  );
  bottoms.push(drawFacts(pdf, facts, { x: MARGIN + 2 * (width + GAP), y: top, width }));
  pdf.x = MARGIN;
  pdf.y = Math.max(...bottoms) + 16;
}

/** Scripts that DejaVu has; "Common" are digits, signs and spaces. */
const DEJAVU = ["Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Arabic", "Common"];
const IN_DEJAVU = DEJAVU.map((script) => `\\p{Script=${script}}`).join("");
const OTHER = `(?:[^${IN_DEJAVU}\\p{Script=Inherited}]|[\\u3000-\\u303F\\u30A0-\\u30FF\\uFF00-\\uFFEF])`;
/** Letters of other scripts, one or more. */
const OTHER_SCRIPTS = new RegExp(`(${OTHER}(?:${OTHER}|\\p{Script=Inherited})*)`, "u");

type Place = { readonly x: number; readonly y: number; readonly width: number };
type TextPlace = Place & { readonly align?: "left" | "right" };

/** Text in the fonts that have its letters: one line may need two of them. */
function drawText(pdf: Pdf, text: string, weight: Weight, { x, y, ...options }: TextPlace): void {
  const runs = text.split(OTHER_SCRIPTS).filter((run) => run !== "");
  pdf.x = x;
  pdf.y = y;
  for (const [index, run] of runs.entries()) {
    pdf.font(OTHER_SCRIPTS.test(run) ? "other" : weight).text(run, { ...options, continued: index < runs.length - 1 });
  }
}

/** The height of the text, or slightly more: letters that only the second font has count as wide ones of the first. */
function heightOfText(
  pdf: Pdf,
  text: string,
  weight: Weight,
  { width, size }: { width: number; size: number },
): number {
  if (text === "") return 0;
  const measurable = text.replace(new RegExp(OTHER_SCRIPTS, "gu"), (run) => "WW ".repeat(run.length));
  return pdf.font(weight).fontSize(size).heightOfString(measurable, { width });
}

function drawParty(pdf: Pdf, { heading, lines }: SheetParty, { x, y, width }: Place): number {
  pdf.font("bold").text(heading, x, y, { width });
  pdf.y += 2;
  for (const line of lines) drawText(pdf, line, "regular", { x, y: pdf.y, width });
  return pdf.y;
}

function drawFacts(pdf: Pdf, facts: Sheet["facts"], { x, y, width }: Place): number {
  pdf.font("bold").text("Details", x, y, { width });
  pdf.font("regular");
  const named = Math.min(Math.max(...facts.map(([name]) => pdf.widthOfString(name))) + 8, width / 2);
  let top = pdf.y + 2;
  for (const [name, value] of facts) {
    pdf.fillColor(GREY);
    drawText(pdf, name, "regular", { x, y: top, width: named });
    const bottom = pdf.y;
    pdf.fillColor(BLACK);
    drawText(pdf, value, "regular", { x: x + named, y: top, width: width - named });
    top = Math.max(bottom, pdf.y);
  }
  return top;
}

type Measured = { readonly left: number; readonly width: number; readonly isNumber: boolean };

/** The positions and widths of a table's columns. */
function placesOf({ columns }: SheetTable): readonly Measured[] {
  const shares = columns.reduce((sum, { share }) => sum + share, 0);
  const free = WIDTH - GAP * (columns.length - 1);
  let left = MARGIN;
  return columns.map(({ share, isNumber }) => {
    const place = { left, width: (free * share) / shares, isNumber };
    left += place.width + GAP;
    return place;
  });
}

function drawTable(pdf: Pdf, table: SheetTable): void {
  const places = placesOf(table);
  const head = { cells: table.columns.map(({ title }) => title), note: "", isStrong: true };
  const none = { cells: [table.empty], note: "", isStrong: false };
  const rows = table.rows.length === 0 && table.empty !== "" ? [none] : table.rows;
  const heights = rows.map((one) => heightOf(pdf, places, one));
  const captionHeight = 30 + heightOf(pdf, places, head);
  const totalsHeight = table.totals.length * (SIZE * 1.2 + 2 * PADDING);
  const whole = captionHeight + heights.reduce((sum, height) => sum + height, 0) + totalsHeight;
  // A short table stays on one page, and no caption or head stands without a row below it.
  keepTogether(pdf, whole <= KEPT_WHOLE ? whole : captionHeight + (heights[0] ?? 0));
  pdf.font("bold").fontSize(SIZE + 1);
  pdf.fillColor(BLACK).text(table.caption, MARGIN, pdf.y + 10, { width: WIDTH });
  pdf.y += 4;
  drawRow(pdf, places, head, BLACK);
  for (const [index, one] of rows.entries()) {
    // Totals stay on the page of the last row.
    const below = index === rows.length - 1 ? totalsHeight : 0;
    if (keepTogether(pdf, (heights[index] ?? 0) + below)) drawRow(pdf, places, head, BLACK);
    drawRow(pdf, places, one, LIGHT);
  }
  for (const total of table.totals) drawTotal(pdf, places, total);
  pdf.y += 6;
}

/** The font size of a cell: a number is made smaller rather than broken. */
function sizeOf(pdf: Pdf, text: string, weight: Weight, { width, isNumber }: Measured): number {
  if (!isNumber || text === "") return SIZE;
  const needed = pdf.font(weight).fontSize(SIZE).widthOfString(text) + 0.5;
  return needed <= width ? SIZE : Math.max(SIZE_MIN, (SIZE * width) / needed);
}

function heightOf(pdf: Pdf, places: readonly Measured[], { cells, note, isStrong }: SheetRow): number {
  const weight = isStrong ? "bold" : "regular";
  const heights = places.map((place, index) => {
    const text = cells[index] ?? "";
    return heightOfText(pdf, text, weight, { width: place.width, size: sizeOf(pdf, text, weight, place) });
  });
  const noted = heightOfText(pdf, note, "regular", { width: places[0]?.width ?? WIDTH, size: NOTE_SIZE });
  return Math.max((heights[0] ?? 0) + noted, ...heights) + 2 * PADDING;
}

function drawRow(pdf: Pdf, places: readonly Measured[], line: SheetRow, ruleColor: string): void {
  const height = heightOf(pdf, places, line);
  const top = pdf.y;
  const weight = line.isStrong ? "bold" : "regular";
  for (const [index, place] of places.entries()) {
    const { left: x, width, isNumber } = place;
    const text = line.cells[index] ?? "";
    pdf.fontSize(sizeOf(pdf, text, weight, place)).fillColor(BLACK);
    drawText(pdf, text, weight, { x, y: top + PADDING, width, align: isNumber ? "right" : "left" });
    if (index > 0 || line.note === "") continue;
    pdf.fontSize(NOTE_SIZE).fillColor(GREY);
    drawText(pdf, line.note, "regular", { x, y: pdf.y, width });
  }
  pdf.fontSize(SIZE).fillColor(BLACK);
  drawRule(pdf, top + height, ruleColor, 0.5);
  pdf.x = MARGIN;
  pdf.y = top + height;
}

function drawTotal(
  pdf: Pdf,
  places: readonly Measured[],
  { label, amount, isStrong }: SheetTable["totals"][number],
): void {
  const last = places.at(-1);
  if (last === undefined) return;
  const top = pdf.y;
  const weight = isStrong ? "bold" : "regular";
  if (isStrong) drawRule(pdf, top, BLACK, 1);
  pdf.fontSize(SIZE).fillColor(BLACK);
  const width = last.left - GAP - MARGIN;
  drawText(pdf, label, weight, { x: MARGIN, y: top + PADDING, width, align: "right" });
  const bottom = pdf.y;
  drawText(pdf, amount, weight, { x: last.left, y: top + PADDING, width: last.width, align: "right" });
  pdf.x = MARGIN;
  pdf.y = Math.max(bottom, pdf.y) + PADDING;
}

function drawRule(pdf: Pdf, y: number, color: string, thickness: number): void {
  pdf
    .moveTo(MARGIN, y)
    .lineTo(MARGIN + WIDTH, y)
    .lineWidth(thickness)
    .strokeColor(color)
    .stroke();
}

function drawNote(pdf: Pdf, note: string): void {
  keepTogether(pdf, heightOfText(pdf, note, "regular", { width: WIDTH, size: SIZE }) + 8);
  pdf.fontSize(SIZE).fillColor(GREY);
  drawText(pdf, note, "regular", { x: MARGIN, y: pdf.y + 8, width: WIDTH });
  pdf.fillColor(BLACK);
}

/** Begins a new page when the rest of this one is lower than `height`; returns true if it did. */
function keepTogether(pdf: Pdf, height: number): boolean {
  if (pdf.y + height <= pdf.page.height - pdf.page.margins.bottom) return false;
  pdf.addPage();
  return true;
}

function drawFooters(pdf: Pdf, issuer: string, title: string): void {
  const { start, count } = pdf.bufferedPageRange();
  for (let index = start; index < start + count; index += 1) {
    pdf.switchToPage(index);
    // Below the margin there is room for this line alone, which must not begin a new page.
    pdf.page.margins.bottom = 0;
    const page = `Page ${index - start + 1} of ${count}`;
    pdf.font("regular").fontSize(NOTE_SIZE).fillColor(GREY);
    const width = pdf.widthOfString(page) + 4;
    const y = pdf.page.height - MARGIN + 14;
    const line = { x: MARGIN, y, width: WIDTH - width - GAP, height: NOTE_SIZE * 1.4, ellipsis: true };
    drawText(pdf, `${issuer} · ${title}`, "regular", line);
    drawText(pdf, page, "regular", { x: MARGIN + WIDTH - width, y, width, align: "right" });
  }
}
