import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Keys() {
  return (
    <>
      <PageHead title="Keys" />
      <EmptyState title="No keys">A key lets programs act for the account, within its permissions.</EmptyState>
    </>
  );
}
