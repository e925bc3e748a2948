import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Security() {
  return (
    <>
      <PageHead title="Security" />
      <EmptyState title="Nothing to show yet">Password, second factors and passkeys.</EmptyState>
    </>
  );
}
