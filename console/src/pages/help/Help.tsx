import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Help() {
  return (
    <>
      <PageHead title="Help" />
      <EmptyState title="Nothing to show yet">The documentation of this installation.</EmptyState>
    </>
  );
}
