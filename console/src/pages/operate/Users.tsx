import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Users() {
  return (
    <>
      <PageHead title="Users" />
      <EmptyState title="Nothing to show yet">Accounts with their money and limits.</EmptyState>
    </>
  );
}
