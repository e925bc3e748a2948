import { Type } from "typebox";
import { epochSeconds } from "../../base/clock.ts";
import { notFound } from "../../base/errors.ts";
import type { UserId } from "../../base/ids.ts";
import type { Reader } from "../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../http/server.ts";
import { renderPage } from "./document-page.ts";
import { renderPdf } from "./document-pdf.ts";
import {
  DocumentResponse,
  DocumentsQuery,
  DocumentsResponse,
  NumberParams,
  type DocumentSummary,
} from "./document-schema.ts";
import { countDocuments, findDocument, listDocuments, type InvoiceDocument } from "./document-store.ts";
import { readLimit } from "./movement-plan.ts";
import { badToken, readToken, writeToken } from "./page-token.ts";

const TAGS = ["Billing"];
const LIST = "documents";
const LIMIT = { fallback: 100, max: 500 };
/** Nothing of what is shown comes from elsewhere, and nothing in it runs. */
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** Monthly invoices as they were issued: as data, as a page, and as a PDF. */
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
        next_token: last === undefined ? null : writeToken(LIST, [last.from.getTime()]),
        results: page.map(viewSummary),
      };
    },
  );
}

/** The month that the page before ended with. */
function readPlace(token: string | undefined): Date | undefined {
  const [place] = readToken(LIST, token, ["integer"]) ?? [];
  if (place === undefined) return undefined;
  const month = new Date(Number(place));
  if (Number.isNaN(month.getTime())) throw badToken();
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
      void reply
        .header("content-type", "text/html; charset=utf-8")
        .header("content-security-policy", PAGE_POLICY)
        .header("cache-control", "private, no-store");
      return reply.send(Buffer.from(renderPage(document)));
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
      return reply.send(await renderPdf(document));
    },
  );
}

const NUMBER = /^[A-Z0-9-]{6,40}$/;

async function requireDocument(db: Reader, userId: UserId, number: string): Promise<InvoiceDocument> {
  const document = NUMBER.test(number) ? await findDocument(db, userId, number) : undefined;
  if (document === undefined) throw notFound("no_such_invoice", "There is no invoice with this number.");
  return document;
}

const dollarsOf = (cents: number) => cents / 100;

function viewSummary({ number, issuedAt, from, until, content }: InvoiceDocument): DocumentSummary {
  return {
    number,
    issued_at: epochSeconds(issuedAt),
    period_start: epochSeconds(from),
    period_end: epochSeconds(until),
    currency: content.currency,
    total: dollarsOf(content.total_cents),
  };
}

function viewDocument(document: InvoiceDocument): DocumentResponse {
  const { seller, buyer, lines, net_cents: net, tax, balance } = document.content;
  return {
    success: true,
    ...viewSummary(document),
    seller: { ...seller, address: [...seller.address] },
    buyer: { ...buyer, address: [...buyer.address] },
    lines: lines.map(({ component, from_ms: fromMs, to_ms: toMs, amount_cents: cents, ...line }) => ({
      ...line,
      type: component,
      start: fromMs / 1000,
      end: toMs / 1000,
      amount: dollarsOf(cents),
    })),
    net: dollarsOf(net),
    tax: { percent: tax.percent, amount: dollarsOf(tax.amount_cents), note: tax.note },
    balance: {
      opening: dollarsOf(balance.opening_cents),
      entries: balance.entries.map(({ label, amount_cents: cents }) => ({ label, amount: dollarsOf(cents) })),
      usage: dollarsOf(balance.usage_cents),
      rounding: dollarsOf(balance.rounding_cents),
      closing: dollarsOf(balance.closing_cents),
    },
  };
}
