import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Join() {
  return (
    <>
      <PageHead title="Join a machine" />
      <EmptyState title="Nothing to show yet">One command makes a machine a host.</EmptyState>
    </>
  );
}
