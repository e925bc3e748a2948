import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Team() {
  return (
    <>
      <PageHead title="Team" />
      <EmptyState title="No team">A team shares credit, instances and machines among its members.</EmptyState>
    </>
  );
}
