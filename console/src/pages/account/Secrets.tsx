import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Secrets() {
  return (
    <>
      <PageHead title="Secrets" />
      <EmptyState title="No secrets">A secret is an environment variable of all your instances.</EmptyState>
    </>
  );
}
