import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Payouts() {
  return (
    <>
      <PageHead title="Payouts" />
      <EmptyState title="No payouts">Money that was paid out to you, and the way it goes.</EmptyState>
    </>
  );
}
