import { adminAudit, type AdminAuditAnswer } from "../../../../sdk/src/operations.ts";
import { readExport } from "./export-file.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";
import { dateText } from "../../time-text.ts";

type Check = AdminAuditAnswer["checks"][number];
type Difference = Check["differences"][number];

const CHECKS: readonly Column<Check>[] = [
  { title: "CHECK", cell: ({ name }) => name },
  { title: "ROWS", cell: ({ examined_count: count }) => count },
  { title: "DIFFER", cell: ({ difference_count: count }) => count },
  { title: "RULE", cell: ({ title }) => title },
];
const DIFFERENCES: readonly Column<Difference>[] = [
  { title: "ROW", cell: ({ subject }) => subject },
  { title: "STORED", cell: ({ stored }) => stored },
  { title: "EXPECTED", cell: ({ expected }) => expected },
  { title: "PROBLEM", cell: ({ problem }) => problem },
];

/** Runs an audit and waits for its end: the server answers after some seconds, and the audit continues in between. */
export async function runAudit(
  options: ConnectionOptions & { readonly json?: boolean; readonly full?: boolean; readonly against?: string },
): Promise<void> {
  const client = connect(options);
  const { against } = options;
  const exported = against === undefined ? undefined : await readExport(against);
  const query = {
    ...(options.full === true ? { full: "true" } : {}),
    ...(exported === undefined ? {} : { against: `${exported.number}:${exported.sha256}` }),
  };
  let answer = await adminAudit(client, { query });
  while (answer.state === "running") answer = await adminAudit(client, { query });
  printAnswer(answer, options, renderAudit);
  if (answer.is_sound !== true) process.exitCode = 1;
}

function renderAudit(answer: AdminAuditAnswer): string {
  const { checks, is_sound: isSound, audited_at: auditedAt } = answer;
  const broken = checks.filter(({ difference_count: count }) => count > 0);
  const blocks = [
    renderTable(checks, CHECKS, "Nothing was checked."),
    ...broken.map(renderBroken),
    `${isSound === true ? "Nothing differs" : `${broken.length} of ${checks.length} checks found rows that differ`}${
      auditedAt === null ? "" : `, as of ${dateText(auditedAt)} UTC`
    }. ${scopeText(answer)}`,
  ];
  return blocks.join("\n\n");
}

function renderBroken({ name, title, difference_count: count, differences }: Check): string {
  const rest = count > differences.length ? `\n… and ${count - differences.length} more` : "";
  return `${name}: ${title}\n${renderTable(differences, DIFFERENCES, "")}${rest}`;
}

function scopeText({ is_full: isFull, sealed_until: sealedUntil }: AdminAuditAnswer): string {
  if (isFull) return "Everything was read.";
  if (sealedUntil === null) return "Everything was read: there is no checkpoint yet.";
  return `The checkpoint of ${dateText(sealedUntil)} UTC was trusted: --full reads what is before it, too.`;
}
