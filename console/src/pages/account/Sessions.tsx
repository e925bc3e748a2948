import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Sessions() {
  return (
    <>
      <PageHead title="Sessions" />
      <EmptyState title="No sessions">Browsers and programs that are signed in.</EmptyState>
    </>
  );
}
