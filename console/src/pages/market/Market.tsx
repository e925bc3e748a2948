import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Market() {
  return (
    <>
      <PageHead title="Market" />
      <EmptyState title="No offers yet">The market shows every GPU that can be rented now.</EmptyState>
    </>
  );
}
