import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function TopUp() {
  return (
    <>
      <PageHead title="Top-up" />
      <EmptyState title="Nothing to show yet">Ways to add credit.</EmptyState>
    </>
  );
}
