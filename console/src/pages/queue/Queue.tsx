import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Queue() {
  return (
    <>
      <PageHead title="Queue" />
      <EmptyState title="Nothing waits">A request in the queue rents the first offer that fits it.</EmptyState>
    </>
  );
}
