import { invalid } from "../../../base/errors.ts";
import type { FactHead } from "../../../base/facts.ts";
import type { Log } from "../../../base/log.ts";
import type { HttpScope } from "../../../http/server.ts";
import { AuditDesk } from "./audit-desk.ts";
import { findFactHead, listLinks } from "../../../db/fact-store.ts";
import { findLastRun, listFindings } from "./findings/finding-store.ts";
import { AuditFactsQuery, AuditFactsResponse, AuditQuery, AuditResponse, ReconciliationResponse } from "./schema.ts";
import { viewAudit, viewFacts, viewReconciliation } from "./views.ts";

const TAGS = ["Administration"];
const FINDINGS_SHOWN_MAX = 100;
const LINKS_PER_PAGE = 100;

/** Routes for administrators: audits of the books, and findings of the reconciliation. */
export function auditRoutes({ app, database, clock }: HttpScope, { log }: { readonly log: Log }): void {
  const desk = new AuditDesk({ database, clock }, log);
  app.get(
    "/api/v0/admin/audit/",
    {
      config: { access: { operation: "api.admin.audit", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "Recompute the books from the facts, and show what differs",
        querystring: AuditQuery,
        response: { 200: AuditResponse },
      },
    },
    async (request) => {
      const isFull = parseFlag(request.query.full);
      return viewAudit(await desk.ask({ isFull, against: parseHead(request.query.against) }), isFull);
    },
  );
  app.get(
    "/api/v0/admin/audit/facts/",
    {
      config: { access: { operation: "api.admin.audit_facts", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "Export the signed chain of facts about money",
        querystring: AuditFactsQuery,
        response: { 200: AuditFactsResponse },
      },
    },
    async (request) => {
      const { after = 0, limit = LINKS_PER_PAGE } = request.query;
      const links = await listLinks(database.kysely, { from: BigInt(after) + 1n, limit });
      return viewFacts(await findFactHead(database.kysely), links, database.facts.signer.publicKey);
    },
  );
  app.get(
    "/api/v0/admin/reconciliation/",
    {
      config: { access: { operation: "api.admin.reconciliation", permission: "admin" } },
      schema: {
        tags: TAGS,
        summary: "Show mismatches that rules repaired, and those that they could only report",
        response: { 200: ReconciliationResponse },
      },
    },
    async () =>
      viewReconciliation(await findLastRun(database.kysely), await listFindings(database.kysely, FINDINGS_SHOWN_MAX)),
  );
}

function parseFlag(text: string | undefined): boolean {
  if (text === undefined || text === "false") return false;
  if (text === "true") return true;
  throw invalid("full", "full must be true or false");
}

/** Parses the head of an export: `812:` and its hash, as the schema checked it. */
function parseHead(text: string | undefined): FactHead | undefined {
  const [number, sha256] = text?.split(":") ?? [];
  return number === undefined || sha256 === undefined ? undefined : { number: BigInt(number), sha256 };
}
