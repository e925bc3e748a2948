import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Invoices() {
  return (
    <>
      <PageHead title="Invoices" />
      <EmptyState title="No invoices">An invoice comes at the end of each month with charges.</EmptyState>
    </>
  );
}
