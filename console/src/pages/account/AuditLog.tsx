import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function AuditLog() {
  return (
    <>
      <PageHead title="Audit log" />
      <EmptyState title="No entries">Every change of the account, with its time and origin.</EmptyState>
    </>
  );
}
