import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Profile() {
  return (
    <>
      <PageHead title="Profile" />
      <EmptyState title="Nothing to show yet">Your name, address and settings.</EmptyState>
    </>
  );
}
