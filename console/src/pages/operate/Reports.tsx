import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Reports() {
  return (
    <>
      <PageHead title="Reports" />
      <EmptyState title="No reports">Reports of renters about machines.</EmptyState>
    </>
  );
}
