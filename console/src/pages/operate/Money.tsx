import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Money() {
  return (
    <>
      <PageHead title="Money of the operator" />
      <EmptyState title="Nothing to show yet">Money in, out and owed.</EmptyState>
    </>
  );
}
