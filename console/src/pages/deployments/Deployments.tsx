import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Deployments() {
  return (
    <>
      <PageHead title="Deployments" />
      <EmptyState title="No deployments">A deployment is a folder of code that endpoints run.</EmptyState>
    </>
  );
}
