import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Volumes() {
  return (
    <>
      <PageHead title="Volumes" />
      <EmptyState title="No volumes">A volume keeps data when an instance ends.</EmptyState>
    </>
  );
}
