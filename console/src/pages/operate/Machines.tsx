import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Machines() {
  return (
    <>
      <PageHead title="Machines of all hosts" />
      <EmptyState title="Nothing to show yet">Every machine with its health.</EmptyState>
    </>
  );
}
