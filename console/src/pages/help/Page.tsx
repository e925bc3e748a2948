import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Page() {
  return (
    <>
      <PageHead title="Help page" />
      <EmptyState title="Nothing to show yet">A page of the documentation.</EmptyState>
    </>
  );
}
