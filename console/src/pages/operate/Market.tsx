import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Market() {
  return (
    <>
      <PageHead title="Market of the operator" />
      <EmptyState title="Nothing to show yet">GPUs by model, rents and refusals.</EmptyState>
    </>
  );
}
