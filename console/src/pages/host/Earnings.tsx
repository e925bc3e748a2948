import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Earnings() {
  return (
    <>
      <PageHead title="Earnings" />
      <EmptyState title="No earnings">What renters paid for your machines, by day.</EmptyState>
    </>
  );
}
