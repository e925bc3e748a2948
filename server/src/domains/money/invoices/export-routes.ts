import { Readable } from "node:stream";
import { Type } from "typebox";
import { invalid } from "../../../base/errors.ts";
import { formatDollars } from "../../../base/money.ts";
import { parseMoment } from "../../../base/moment.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { listMovements, placeOf, type Movement, type MovementPlace } from "../ledger/for-invoices.ts";
import { listLines, type ChargeLine, type LinePlace } from "../charging/for-invoices.ts";
import { sourceOf } from "./charges/charge-views.ts";
import { csvRecord, type Cell } from "./rules/csv.ts";
import { ALL_SIDES, netAmount, serviceOf, typeOf } from "./movements/rules/movements.ts";

const TAGS = ["Billing"];
const ROWS_AT_ONCE = 1_000;
const MOMENT = "seconds since 1970, an ISO 8601 date or date-time, or MM/DD/YYYY";
const ExportQuery = Type.Object({
  from: Type.Optional(Type.String()),
  to: Type.Optional(Type.String()),
});
const Csv = {
  description: "Comma-separated values (RFC 4180)",
  content: { "text/csv": { schema: Type.Unsafe<Readable>(Type.String()) } },
};

type Span = { readonly from: Date; readonly until: Date };

/** CSV tables of any length, for spreadsheets and book-keeping; they are read and sent piece by piece. */
export function exportRoutes(scope: HttpScope): void {
  exportRoute(scope, {
    path: "/api/v0/charges/export/",
    operation: "api.billing.export_charges",
    summary: "Export every charge line as CSV",
    records: (userId, span) => chargeRecords(scope.database.kysely, userId, span),
  });
  exportRoute(scope, {
    path: "/api/v0/invoices/export/",
    operation: "api.billing.export_invoices",
    summary: "Export money movements as CSV",
    records: (userId, span) => movementRecords(scope.database.kysely, userId, span),
  });
}

type Export = {
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly records: (userId: UserId, span: Span) => AsyncIterable<string>;
};

function exportRoute({ app, clock }: HttpScope, { path, operation, summary, records }: Export): void {
  app.get(
    path,
    {
      config: { access: { operation, permission: "billing_read" } },
      schema: { tags: TAGS, summary, querystring: ExportQuery, response: { 200: Csv } },
    },
    async (request, reply) => {
      const span = readSpan(request.query, clock.now());
      const name = path.includes("charges") ? "charges" : "movements";
      void reply
        .header("content-type", "text/csv; charset=utf-8; header=present")
        .header("content-disposition", `attachment; filename="${name}.csv"`);
      return reply.send(Readable.from(records(identityOf(request).userId, span)));
    },
  );
}

/** The time span of a table. It ends now at the latest, so that the table does not grow while it is read. */
function readSpan({ from, to }: { readonly from?: string; readonly to?: string }, now: Date): Span {
  const first = readMoment("from", from) ?? new Date(0);
  const last = readMoment("to", to) ?? now;
  if (first > last) throw invalid("from", "from must not be after to");
  return { from: first, until: new Date(Math.min(last.getTime(), now.getTime()) + 1) };
}

function readMoment(field: "from" | "to", text: string | undefined): Date | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const moment = parseMoment(text, { isEnd: field === "to" });
  if (moment === undefined) throw invalid(field, `${field} must be ${MOMENT}`);
  return moment;
}

const LINE_TITLES = [
  "id",
  "charged_at",
  "from",
  "to",
  "source",
  "component",
  "state",
  "cause",
  "machine_id",
  "generation",
  "quantity",
  "quantity_unit",
  "size_gb",
  "unit_price_usd",
  "discount_percent",
  "amount_usd",
  "unpaid_usd",
  "paid_from",
];

async function* chargeRecords(db: Reader, payerId: UserId, span: Span): AsyncGenerator<string> {
  yield csvRecord(LINE_TITLES);
  let after: LinePlace | undefined;
  for (;;) {
    const lines = await listLines(db, { payerId, ...span }, { after, isNewestFirst: false, limit: ROWS_AT_ONCE });
    yield lines.map((line) => csvRecord(lineCells(line))).join("");
    after = lines.at(-1);
    if (after === undefined || lines.length < ROWS_AT_ONCE) return;
  }
}

function lineCells(line: ChargeLine): readonly Cell[] {
  const isTime = line.component === "gpu" || line.component === "disk";
  return [
    whole(line.id),
    line.chargedAt.toISOString(),
    line.from.toISOString(),
    line.to.toISOString(),
    sourceOf(line),
    line.component,
    line.state,
    line.cause,
    line.machineId === undefined ? undefined : whole(line.machineId),
    line.generation === undefined ? undefined : whole(line.generation),
    whole(line.quantity),
    isTime ? "ms" : "bytes",
    // A billionth of a GB is a byte, as a billionth of a dollar is a nano-dollar.
    line.sizeBytes === undefined ? undefined : { number: formatDollars(line.sizeBytes) },
    { number: formatDollars(line.unitPrice) },
    { number: formatDollars(BigInt(line.discountPpm) * 100_000n) },
    { number: formatDollars(line.amount) },
    { number: formatDollars(line.unpaid) },
    line.paidFrom,
  ];
}

function whole(value: bigint | number): Cell {
  return { number: String(value) };
}

const MOVEMENT_TITLES = ["id", "when", "type", "service", "direction", "description", "amount_usd", "account"];

async function* movementRecords(db: Reader, userId: UserId, span: Span): AsyncGenerator<string> {
  yield csvRecord(MOVEMENT_TITLES);
  let after: MovementPlace | undefined;
  for (;;) {
    const page = { order: "when", isDescending: false, after, limit: ROWS_AT_ONCE } as const;
    const { movements } = await listMovements(db, userId, { ...span, sides: ALL_SIDES, ...page });
    yield movements.map((movement) => csvRecord(movementCells(movement))).join("");
    const last = movements.at(-1);
    if (last === undefined || movements.length < ROWS_AT_ONCE) return;
    after = placeOf(last, "when");
  }
}

/** A movement from the owner's view: positive amounts came in, negative ones went out. */
function movementCells(movement: Movement): readonly Cell[] {
  return [
    whole(movement.transferId),
    movement.createdAt.toISOString(),
    typeOf(movement),
    serviceOf(movement.code),
    movement.direction,
    movement.description,
    { number: formatDollars(netAmount(movement)) },
    movement.accountKind,
  ];
}
