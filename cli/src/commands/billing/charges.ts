import { billingCharges, type BillingChargesAnswer } from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";
import { allPages, daysOf, type DayOptions } from "./pages.ts";

type Row = BillingChargesAnswer["results"][number];
type Line = Extract<Row, { readonly cause: string }>;
type Options = ConnectionOptions &
  DayOptions & {
    readonly type?: string;
    readonly tree?: boolean;
    readonly lines?: boolean;
    readonly json?: boolean;
  };

const DEFAULT_DAYS = 30;

type Shown = {
  readonly depth: number;
  readonly row: Pick<Row, "start" | "source" | "type" | "description" | "amount" | "amount_exact">;
};
const ROWS: readonly Column<Shown>[] = [
  { title: "FROM", cell: ({ row }) => dateText(row.start) },
  { title: "WHAT", cell: ({ row, depth }) => `${"  ".repeat(depth)}${row.description}` },
  { title: "TYPE", cell: ({ row }) => row.type },
  { title: "AMOUNT", cell: ({ row }) => amountText(row) },
];

const LINES: readonly Column<Line>[] = [
  { title: "FROM", cell: (line) => new Date(line.start * 1000).toISOString().slice(0, 19) },
  { title: "TO", cell: (line) => new Date(line.end * 1000).toISOString().slice(0, 19) },
  { title: "OF", cell: (line) => line.source },
  { title: "WHAT", cell: (line) => line.type },
  { title: "STATE", cell: (line) => line.state },
  { title: "WHY", cell: (line) => line.cause },
  {
    title: "QUANTITY",
    cell: (line) => `${line.quantity} ${line.type === "gpu" || line.type === "disk" ? "ms" : "bytes"}`,
  },
  { title: "PRICE", cell: (line) => `$${line.unit_price}` },
  { title: "AMOUNT", cell: (line) => `$${line.amount_exact}` },
  { title: "UNPAID", cell: (line) => (line.unpaid === "0" ? undefined : `$${line.unpaid}`) },
];

/** Shows the usage of some days by contract and day, or every charge line. */
export async function listCharges(options: Options): Promise<void> {
  const client = connect(options);
  const day = daysOf(options, { now: readClock(), defaultDays: DEFAULT_DAYS });
  const filters = { day, ...(options.type === undefined ? {} : { type: { in: [options.type] } }) };
  const format = options.lines === true ? "lines" : options.tree === true ? "tree" : "table";
  const answer = await allPages((page) =>
    billingCharges(client, { query: { select_filters: JSON.stringify(filters), format, limit: 500, ...page } }),
  );
  const emptyText = "Nothing was charged in this time.";
  printAnswer(answer, options, ({ results, total_amount: total }) => {
    const table =
      options.lines === true
        ? renderTable(results.filter(isLine), LINES, emptyText)
        : renderTable(
            results.flatMap((row) => shownRows(row, 0)),
            ROWS,
            emptyText,
          );
    return results.length === 0 ? table : `${table}\n\nTotal: $${total}`;
  });
}

/** Amounts as the answer rounds them, so that they add up; an amount that rounds to zero shows as `<$0.001`. */
function amountText({ amount, amount_exact: exact }: Shown["row"]): string {
  return amount === 0 && exact !== "0" ? "<$0.001" : `$${amount.toFixed(3)}`;
}

function isLine(row: Row): row is Line {
  return "cause" in row;
}

/** A row followed by its items, one step to the right. */
function shownRows(row: Shown["row"] & { readonly items: readonly unknown[] }, depth: number): readonly Shown[] {
  const items = row.items.filter(isShown);
  return [{ row, depth }, ...items.flatMap((item) => shownRows(item, depth + 1))];
}

function isShown(item: unknown): item is Shown["row"] & { readonly items: readonly unknown[] } {
  return typeof item === "object" && item !== null && "items" in item && "amount" in item;
}
