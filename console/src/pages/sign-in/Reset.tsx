import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Reset() {
  return (
    <>
      <PageHead title="New password" />
      <EmptyState title="Resets are not here yet">The command line does it already.</EmptyState>
    </>
  );
}
