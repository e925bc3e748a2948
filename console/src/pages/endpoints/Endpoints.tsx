import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Endpoints() {
  return (
    <>
      <PageHead title="Endpoints" />
      <EmptyState title="No endpoints">An endpoint starts and stops workers as requests need them.</EmptyState>
    </>
  );
}
