import { createRequire } from "node:module";
import path from "node:path";
import PDFDocument from "pdfkit";
import { dayText } from "../../base/moment.ts";
import { balanceRows, periodText, rateText, taxLabel } from "./document-page.ts";
import type { InvoiceDocument } from "./document-store.ts";
import { centsText, type DocumentContent } from "./document.ts";

type Pdf = InstanceType<typeof PDFDocument>;
type Column = { readonly title: string; readonly width: number; readonly isNumber: boolean };

const { resolve } = createRequire(import.meta.url);
/**
 * Embedded, since what PDF readers bring has Latin only. The first two have Greek, Cyrillic, Armenian, Georgian, Hebrew and
 * Arabic as well, the last one Chinese and Japanese. Its package brings five weights; smaller ones are cut into a hundred
 * files for browsers, or thin. Letters of other scripts are boxes: the page has them in the fonts of its reader.
 */
const FONTS = {
  regular: resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf"),
  bold: resolve("dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf"),
  han: path.join(path.dirname(resolve("@embedpdf/fonts-sc")), "../fonts/NotoSansHans-Regular.otf"),
} as const;
type Weight = "regular" | "bold";

const MARGIN = 50;
const SIZE = 9;
const GREY = "#666666";
const BLACK = "#1a1a1a";
/** The width of a sheet of A4 between its margins, in points. */
const WIDTH = 595.28 - 2 * MARGIN;

const USAGE: readonly Column[] = [
  { title: "What", width: 190, isNumber: false },
  { title: "Quantity", width: 105, isNumber: true },
  { title: "Price", width: 138, isNumber: true },
  { title: "Amount", width: WIDTH - 433, isNumber: true },
];
const BALANCE: readonly Column[] = [
  { title: "Movement", width: 350, isNumber: false },
  { title: "Amount", width: WIDTH - 350, isNumber: true },
];

/** The invoice as a PDF: the words and amounts of the page, as text that can be searched and copied. */
export async function renderPdf(invoice: InvoiceDocument): Promise<Buffer> {
  const pdf = new PDFDocument({
    size: "A4",
    margin: MARGIN,
    bufferPages: true,
    lang: "en",
    displayTitle: true,
    font: FONTS.regular,
    info: { Title: `Invoice ${invoice.number}`, Author: invoice.content.seller.name, CreationDate: invoice.issuedAt },
  });
  const chunks: Buffer[] = [];
  const whole = new Promise<Buffer>((done, failed) => {
    pdf.on("data", (chunk: Buffer) => void chunks.push(chunk));
    pdf.on("end", () => done(Buffer.concat(chunks)));
    pdf.on("error", failed);
  });
  for (const [name, file] of Object.entries(FONTS)) pdf.registerFont(name, file);
  drawHead(pdf, invoice);
  drawUsage(pdf, invoice.content);
  drawBalance(pdf, invoice.content);
  drawFooters(pdf, invoice);
  pdf.end();
  return whole;
}

function drawHead(pdf: Pdf, invoice: InvoiceDocument): void {
  const { number, issuedAt, content } = invoice;
  pdf.font("bold").fontSize(18).fillColor(BLACK).text(`Invoice ${number}`);
  pdf.moveDown(0.5).font("regular").fontSize(SIZE);
  pdf.text(`Issued ${dayText(issuedAt)}. Period ${periodText(invoice)}. Amounts in ${content.currency}.`);
  pdf.moveDown(1.5);
  const top = pdf.y;
  const half = WIDTH / 2 - 10;
  const bottoms = [
    drawParty(pdf, "From", content.seller, "", { x: MARGIN, y: top, width: half }),
    drawParty(pdf, "To", content.buyer, content.buyer.email, { x: MARGIN + WIDTH / 2, y: top, width: half }),
  ];
  pdf.x = MARGIN;
  pdf.y = Math.max(...bottoms) + 20;
}

const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u3000-\u303F\uFF00-\uFFEF]+/u;

type TextPlace = { readonly x: number; readonly y: number; readonly width: number; readonly align?: "left" | "right" };

/** Text in the fonts that have its letters: one line may need two of them. The second is large, and read where it is needed. */
function drawText(pdf: Pdf, text: string, weight: Weight, { x, y, ...options }: TextPlace): void {
  const runs = text.split(new RegExp(`(${HAN.source})`, "u")).filter((run) => run !== "");
  pdf.x = x;
  pdf.y = y;
  for (const [index, run] of runs.entries()) {
    pdf.font(HAN.test(run) ? "han" : weight).text(run, { ...options, continued: index < runs.length - 1 });
  }
}

/** How high that becomes, or a little more: letters that only the other font has are counted as wide ones of this. */
function heightOfText(pdf: Pdf, text: string, weight: Weight, width: number): number {
  const measurable = text.replace(new RegExp(HAN.source, "gu"), (run) => "WW ".repeat(run.length));
  return pdf
    .font(weight)
    .fontSize(SIZE)
    .heightOfString(measurable || " ", { width });
}

type Place = { readonly x: number; readonly y: number; readonly width: number };

function drawParty(
  pdf: Pdf,
  title: string,
  { name, address, tax_id: taxId }: DocumentContent["seller"],
  email: string,
  { x, y, width }: Place,
): number {
  pdf.font("bold").text(title, x, y, { width });
  const lines = [name, ...address, email, taxId === "" ? "" : `Tax id ${taxId}`];
  pdf.y += 2;
  for (const line of lines.filter((one) => one !== "")) {
    drawText(pdf, line, "regular", { x, y: pdf.y, width });
  }
  return pdf.y;
}

function drawUsage(pdf: Pdf, content: DocumentContent): void {
  drawTableHead(pdf, USAGE);
  for (const line of content.lines) {
    const unpaid = line.unpaid === "0" ? "" : ` ($${line.unpaid} more was due and not paid)`;
    const quantity = `${line.quantity} ${line.unit}`;
    drawRow(pdf, USAGE, [`${line.description}${unpaid}`, quantity, rateText(line), centsText(line.amount_cents)]);
  }
  if (content.lines.length === 0) drawRow(pdf, USAGE, ["Nothing was used in this month.", "", "", ""]);
  drawRow(pdf, USAGE, ["Net", "", "", centsText(content.net_cents)]);
  drawRow(pdf, USAGE, [taxLabel(content), "", "", centsText(content.tax.amount_cents)]);
  drawRow(pdf, USAGE, ["Total", "", "", centsText(content.total_cents)], "bold");
  pdf.y += 20;
}

function drawBalance(pdf: Pdf, content: DocumentContent): void {
  keepTogether(pdf, 60);
  pdf.font("bold").fontSize(SIZE).text("Balance: paid from credit", MARGIN, pdf.y);
  pdf.y += 6;
  drawTableHead(pdf, BALANCE);
  for (const [label, cents] of balanceRows(content)) drawRow(pdf, BALANCE, [label, centsText(cents)]);
  if (content.tax.note === "") return;
  keepTogether(pdf, 30);
  pdf.fillColor(GREY);
  drawText(pdf, content.tax.note, "regular", { x: MARGIN, y: pdf.y + 12, width: WIDTH });
  pdf.fillColor(BLACK);
}

function drawTableHead(pdf: Pdf, columns: readonly Column[]): void {
  drawCells(
    pdf,
    columns,
    columns.map(({ title }) => title),
    "bold",
  );
}

/** A row stands on one page; where a new one begins, the table's head is repeated. */
function drawRow(pdf: Pdf, columns: readonly Column[], cells: readonly string[], weight: Weight = "regular"): void {
  if (keepTogether(pdf, heightOf(pdf, columns, cells, weight))) drawTableHead(pdf, columns);
  drawCells(pdf, columns, cells, weight);
}

const [PADDING, LINE_WIDTH] = [4, 0.5];

function heightOf(pdf: Pdf, columns: readonly Column[], cells: readonly string[], weight: Weight): number {
  const heights = columns.map(({ width }, index) => heightOfText(pdf, cells[index] ?? "", weight, width - PADDING));
  return Math.max(...heights) + 2 * PADDING;
}

function drawCells(pdf: Pdf, columns: readonly Column[], cells: readonly string[], weight: Weight): void {
  const height = heightOf(pdf, columns, cells, weight);
  const top = pdf.y;
  let x = MARGIN;
  for (const [index, { width, isNumber }] of columns.entries()) {
    const align = isNumber ? "right" : "left";
    drawText(pdf, cells[index] ?? "", weight, { x, y: top + PADDING, width: width - PADDING, align });
    x += width;
  }
  const bottom = top + height;
  pdf
    .moveTo(MARGIN, bottom)
    .lineTo(MARGIN + WIDTH, bottom)
    .lineWidth(LINE_WIDTH)
    .strokeColor("#c8c8c8")
    .stroke();
  pdf.x = MARGIN;
  pdf.y = bottom;
}

/** Begins a page when the rest of this one is not that high; says whether it did. */
function keepTogether(pdf: Pdf, height: number): boolean {
  if (pdf.y + height <= pdf.page.height - pdf.page.margins.bottom) return false;
  pdf.addPage();
  return true;
}

function drawFooters(pdf: Pdf, { number, content }: InvoiceDocument): void {
  const { start, count } = pdf.bufferedPageRange();
  for (let index = start; index < start + count; index += 1) {
    pdf.switchToPage(index);
    // Below the margin there is room for this line alone, and it must not begin a page.
    pdf.page.margins.bottom = 0;
    const text = `${content.seller.name} · Invoice ${number} · Page ${index - start + 1} of ${count}`;
    pdf.fontSize(7.5).fillColor(GREY);
    drawText(pdf, text, "regular", { x: MARGIN, y: pdf.page.height - MARGIN + 14, width: WIDTH });
  }
}
