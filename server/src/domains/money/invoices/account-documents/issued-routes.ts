import { Readable } from "node:stream";
import { Type } from "typebox";
import { invalid } from "../../../../base/errors.ts";
import { writePageToken } from "../../../../base/filters/page-token.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { HttpScope } from "../../../../http/server.ts";
import { csvRecord } from "../rules/csv.ts";
import type { Month } from "../documents/rules/document-usage.ts";
import { monthAfter } from "../month.ts";
import { readLimit } from "../movements/rules/movement-plan.ts";
import { readKind, readPlace, type HeadPages } from "./account-document-routes.ts";
import { IssuedExportQuery, IssuedQuery, IssuedResponse } from "./issued-schema.ts";
import { listIssuedDocuments, type IssuedDocument } from "./issued-store.ts";
import { ISSUED_TITLES, issuedCells, viewIssued } from "./issued-views.ts";

const TAGS = ["Administration"];
const PAGES = { name: "issued_documents", types: ["integer", "text"] } as const satisfies HeadPages;
const LIMIT = { fallback: 100, max: 500 };
const ROWS_AT_ONCE = 500;

/** Documents of all accounts that were issued in a month, for the operator's book-keeping. */
export function issuedRoutes(scope: HttpScope): void {
  listRoute(scope);
  exportRoute(scope);
}

function listRoute({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/admin/documents/",
    {
      config: { access: { operation: "api.admin.list_documents", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "List the documents of all accounts that were issued in a month",
        querystring: IssuedQuery,
        response: { 200: IssuedResponse },
      },
    },
    async ({ query }) => {
      const kind = readKind(query.kind);
      const after = readPlace(PAGES, query.after_token);
      const limit = readLimit(query.limit, LIMIT);
      const filter = { ...readMonth(query.month), kind, after, limit: limit + 1 };
      const found = await listIssuedDocuments(database.kysely, filter);
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return {
        success: true as const,
        count: page.length,
        next_token: last === undefined ? null : writePageToken(PAGES, [last.issuedAt.getTime(), last.number]),
        results: page.map(viewIssued),
      };
    },
  );
}

function exportRoute({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/admin/documents/export/",
    {
      config: { access: { operation: "api.admin.export_documents", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "Export the documents of all accounts that were issued in a month as CSV",
        querystring: IssuedExportQuery,
        response: {
          200: {
            description: "Comma-separated values (RFC 4180)",
            content: { "text/csv": { schema: Type.Unsafe<Readable>(Type.String()) } },
          },
        },
      },
    },
    async ({ query }, reply) => {
      const [month, kind] = [readMonth(query.month), readKind(query.kind)];
      void reply
        .header("content-type", "text/csv; charset=utf-8; header=present")
        .header("content-disposition", `attachment; filename="documents-${query.month}.csv"`)
        .header("cache-control", "private, no-store");
      return reply.send(Readable.from(records(database.kysely, month, kind)));
    },
  );
}

/** Parses a year and a month. Throws `invalid` about `month` for anything else. */
function readMonth(text: string): Month {
  const [, year, month] = /^(20\d{2})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined || month === undefined) throw invalid("month", "month must be a year and a month: 2026-03");
  const from = new Date(Date.UTC(Number(year), Number(month) - 1, 1));
  return { from, until: monthAfter(from) };
}

async function* records(db: Reader, month: Month, kind: IssuedDocument["kind"] | undefined): AsyncGenerator<string> {
  yield csvRecord(ISSUED_TITLES);
  let after: IssuedDocument | undefined;
  for (;;) {
    const documents = await listIssuedDocuments(db, { ...month, kind, after, limit: ROWS_AT_ONCE });
    yield documents.map((document) => csvRecord(issuedCells(document))).join("");
    after = documents.at(-1);
    if (after === undefined || documents.length < ROWS_AT_ONCE) return;
  }
}
