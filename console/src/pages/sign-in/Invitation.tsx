import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Invitation() {
  return (
    <>
      <PageHead title="Invitation" />
      <EmptyState title="Invitations are not here yet">The command line does it already.</EmptyState>
    </>
  );
}
