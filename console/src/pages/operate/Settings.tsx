import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Settings() {
  return (
    <>
      <PageHead title="Settings" />
      <EmptyState title="Nothing to show yet">How this installation is set up.</EmptyState>
    </>
  );
}
