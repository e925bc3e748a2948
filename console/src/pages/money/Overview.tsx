import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Overview() {
  return (
    <>
      <PageHead title="Money" />
      <EmptyState title="Nothing to show yet">
        Balance, spending of today and this month, and how long the credit lasts.
      </EmptyState>
    </>
  );
}
