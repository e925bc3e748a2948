import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Machine() {
  return (
    <>
      <PageHead title="Machine" />
      <EmptyState title="Nothing to show yet">GPUs, rentals, earnings and verification of the machine.</EmptyState>
    </>
  );
}
