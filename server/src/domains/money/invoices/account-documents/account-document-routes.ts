import { Type } from "typebox";
import { invalid, notFound } from "../../../../base/errors.ts";
import { invalidToken, readPageToken, writePageToken, type PagedList } from "../../../../base/filters/page-token.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { sheetOfInvoice } from "../documents/document-sheet.ts";
import { findDocument } from "../documents/document-store.ts";
import { readLimit } from "../movements/rules/movement-plan.ts";
import { renderSheetPage } from "../documents/sheet-page.ts";
import { renderSheetPdf } from "../documents/sheet-pdf.ts";
import type { Sheet } from "../documents/rules/sheet.ts";
import { DocumentResponseOfAnyKind, KINDS, ListQuery, ListResponse } from "./account-document-schema.ts";
import { countHeads, findAccountDocument, listHeads, listReferring, type HeadPlace } from "./account-document-store.ts";
import { viewAccountDocument, viewHead, viewInvoice } from "./account-document-views.ts";
import { sheetOf } from "./sheets.ts";

const TAGS = ["Billing"];
const PAGES = { name: "account_documents", types: ["integer", "text"] } as const satisfies HeadPages;
const LIMIT = { fallback: 100, max: 500 };
const NumberParams = Type.Object({ number: Type.String() });

/** Documents of an account, of every kind: as data, as a page, and as a PDF. */
export function accountDocumentRoutes(scope: HttpScope): void {
  listRoute(scope);
  showRoute(scope);
  pageRoute(scope);
  pdfRoute(scope);
}

function listRoute({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/billing/documents/",
    {
      config: { access: { operation: "api.billing.list_all_documents", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "List documents of all kinds",
        querystring: ListQuery,
        response: { 200: ListResponse },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const kind = readKind(request.query.kind);
      const before = readPlace(PAGES, request.query.after_token);
      const limit = readLimit(request.query.limit, LIMIT);
      const found = await listHeads(database.kysely, userId, { kind, before, limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return {
        success: true as const,
        count: page.length,
        total: await countHeads(database.kysely, userId, kind),
        next_token: last === undefined ? null : writePageToken(PAGES, [last.issuedAt.getTime(), last.number]),
        results: page.map(viewHead),
      };
    },
  );
}

/** Parses a kind; undefined for all kinds. Throws `invalid` about `kind` for an unknown one. */
export function readKind(text: string | undefined): (typeof KINDS)[number] | undefined {
  if (text === undefined || text === "") return undefined;
  const kind = KINDS.find((known) => known === text);
  if (kind === undefined) throw invalid("kind", `kind must be one of ${KINDS.join(", ")}`);
  return kind;
}

/** A list of documents, for tokens of its pages: the time of issue, in milliseconds, and the number of a document. */
export type HeadPages = PagedList<readonly ["integer", "text"]>;

/** The last document of the page before, from a token of this list. */
export function readPlace(pages: HeadPages, token: string | undefined): HeadPlace | undefined {
  const place = readPageToken(pages, token);
  if (place === undefined) return undefined;
  const [issuedMs, number] = place;
  const issuedAt = new Date(issuedMs);
  if (Number.isNaN(issuedAt.getTime()) || !NUMBER.test(number)) throw invalidToken();
  return { issuedAt, number };
}

function showRoute({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/billing/documents/:number/",
    {
      config: { access: { operation: "api.billing.show_any_document", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "Show a document of any kind",
        params: NumberParams,
        response: { 200: DocumentResponseOfAnyKind },
      },
    },
    async (request) => {
      const { document, invoice } = await requireAny(
        database.kysely,
        identityOf(request).userId,
        request.params.number,
      );
      const referring = await listReferring(database.kysely, request.params.number);
      return invoice === undefined ? viewAccountDocument(document, referring) : viewInvoice(invoice, referring);
    },
  );
}

function pageRoute({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/billing/documents/:number/page/",
    {
      config: { access: { operation: "api.billing.show_any_document_page", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "Show a document of any kind as a page",
        params: NumberParams,
        response: {
          200: { description: "HTML", content: { "text/html": { schema: Type.Unsafe<Buffer>(Type.String()) } } },
        },
      },
    },
    async (request, reply) => {
      const sheet = await requireSheet(database.kysely, identityOf(request).userId, request.params.number);
      void reply.header("content-type", "text/html; charset=utf-8").header("cache-control", "private, no-store");
      return reply.send(Buffer.from(renderSheetPage(sheet)));
    },
  );
}

function pdfRoute({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/billing/documents/:number/pdf/",
    {
      config: { access: { operation: "api.billing.show_any_document_pdf", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "Show a document of any kind as a PDF",
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
      const { number } = request.params;
      const sheet = await requireSheet(database.kysely, identityOf(request).userId, number);
      void reply
        .header("content-type", "application/pdf")
        .header("content-disposition", `inline; filename="${sheet.fileName}-${number}.pdf"`)
        .header("cache-control", "private, no-store");
      return reply.send(await renderSheetPdf(sheet));
    },
  );
}

const NUMBER = /^[A-Z0-9-]{6,40}$/;

/** The document of this number and user. Another user's document is answered like an absent one. */
async function requireAny(db: Reader, userId: UserId, number: string) {
  const known = NUMBER.test(number);
  const document = known ? await findAccountDocument(db, userId, number) : undefined;
  if (document !== undefined) return { document, invoice: undefined };
  const invoice = known ? await findDocument(db, userId, number) : undefined;
  if (invoice !== undefined) return { document: undefined, invoice };
  throw notFound("no_such_document", "There is no document with this number.");
}

async function requireSheet(db: Reader, userId: UserId, number: string): Promise<Sheet> {
  const { document, invoice } = await requireAny(db, userId, number);
  return invoice === undefined ? sheetOf(document) : sheetOfInvoice(invoice);
}
