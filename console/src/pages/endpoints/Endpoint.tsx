import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Endpoint() {
  return (
    <>
      <PageHead title="Endpoint" />
      <EmptyState title="Nothing to show yet">Load, workers and settings of the endpoint.</EmptyState>
    </>
  );
}
