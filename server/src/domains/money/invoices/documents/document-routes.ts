import { Type } from "typebox";
import { notFound } from "../../../../base/errors.ts";
import { invalidToken, readPageToken, writePageToken, type PagedList } from "../../../../base/filters/page-token.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { DocumentResponse, DocumentsQuery, DocumentsResponse, NumberParams } from "./document-schema.ts";
import { sheetOfInvoice } from "./document-sheet.ts";
import { countDocuments, findDocument, listDocuments, type InvoiceDocument } from "./document-store.ts";
import { viewDocument, viewSummary } from "./document-views.ts";
import { readLimit } from "../movements/rules/movement-plan.ts";
import { renderSheetPage } from "./sheet-page.ts";
import { renderSheetPdf } from "./sheet-pdf.ts";

const TAGS = ["Billing"];
const PAGES = { name: "documents", types: ["integer"] } as const satisfies PagedList;
const LIMIT = { fallback: 100, max: 500 };
/** Monthly invoices as issued: as data, as a page, and as a PDF. */
export function documentRoutes(scope: HttpScope): void {
  listRoute(scope);
  showRoute(scope);
  renderedRoutes(scope);
}

function listRoute({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/invoice_documents/",
    {
      config: { access: { operation: "api.billing.list_documents", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "List monthly invoices",
        querystring: DocumentsQuery,
        response: { 200: DocumentsResponse },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const before = readPlace(request.query.after_token);
      const limit = readLimit(request.query.limit, LIMIT);
      const [found, total] = await Promise.all([
        listDocuments(database.kysely, userId, { before, limit: limit + 1 }),
        countDocuments(database.kysely, userId),
      ]);
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return {
        success: true as const,
        count: page.length,
        total,
        next_token: last === undefined ? null : writePageToken(PAGES, [last.from.getTime()]),
        results: page.map(viewSummary),
      };
    },
  );
}

/** The last month of the page before. */
function readPlace(token: string | undefined): Date | undefined {
  const [place] = readPageToken(PAGES, token) ?? [];
  if (place === undefined) return undefined;
  const month = new Date(place);
  if (Number.isNaN(month.getTime())) throw invalidToken();
  return month;
}

function showRoute({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/invoice_documents/:number/",
    {
      config: { access: { operation: "api.billing.show_document", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "Show a monthly invoice",
        params: NumberParams,
        response: { 200: DocumentResponse },
      },
    },
    async (request) =>
      viewDocument(await requireDocument(database.kysely, identityOf(request).userId, request.params.number)),
  );
}

function renderedRoutes({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/invoice_documents/:number/page/",
    {
      config: { access: { operation: "api.billing.show_document_page", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "Show a monthly invoice as a page",
        params: NumberParams,
        response: {
          200: { description: "HTML", content: { "text/html": { schema: Type.Unsafe<Buffer>(Type.String()) } } },
        },
      },
    },
    async (request, reply) => {
      const document = await requireDocument(database.kysely, identityOf(request).userId, request.params.number);
      void reply.header("content-type", "text/html; charset=utf-8").header("cache-control", "private, no-store");
      return reply.send(Buffer.from(renderSheetPage(sheetOfInvoice(document))));
    },
  );
  app.get(
    "/api/v0/invoice_documents/:number/pdf/",
    {
      config: { access: { operation: "api.billing.show_document_pdf", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "Show a monthly invoice as a PDF",
        params: NumberParams,
        response: {
          200: {
            description: "PDF",
            content: { "application/pdf": { schema: Type.Unsafe<Buffer>(Type.String({ format: "binary" })) } },
          },
        },
      },
    },
    async (request, reply) => {
      const document = await requireDocument(database.kysely, identityOf(request).userId, request.params.number);
      void reply
        .header("content-type", "application/pdf")
        .header("content-disposition", `inline; filename="invoice-${document.number}.pdf"`)
        .header("cache-control", "private, no-store");
      return reply.send(await renderSheetPdf(sheetOfInvoice(document)));
    },
  );
}

const NUMBER = /^[A-Z0-9-]{6,40}$/;

async function requireDocument(db: Reader, userId: UserId, number: string): Promise<InvoiceDocument> {
  const document = NUMBER.test(number) ? await findDocument(db, userId, number) : undefined;
  if (document === undefined) throw notFound("no_such_invoice", "There is no invoice with this number.");
  return document;
}
