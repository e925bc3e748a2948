import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Limits() {
  return (
    <>
      <PageHead title="Limits" />
      <EmptyState title="No limits">A limit stops spending of the account, a key or an instance.</EmptyState>
    </>
  );
}
