import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Template() {
  return (
    <>
      <PageHead title="Template" />
      <EmptyState title="Nothing to show yet">The image, its settings and its versions.</EmptyState>
    </>
  );
}
