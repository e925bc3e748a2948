import type { Loop } from "../../loops/driver.ts";
import { issueInvoices, type IssueMeans } from "./document-service.ts";

export function billingLoops(means: IssueMeans): readonly Loop[] {
  return [
    {
      name: "issue-invoices",
      description: "Issues the invoices of months that are over.",
      everyMs: 300_000,
      run: async () => ({ issued: await issueInvoices(means) }),
    },
  ];
}
