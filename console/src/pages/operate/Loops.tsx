import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Loops() {
  return (
    <>
      <PageHead title="Loops" />
      <EmptyState title="Nothing to show yet">Work that runs by itself.</EmptyState>
    </>
  );
}
