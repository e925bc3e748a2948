import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Announcements() {
  return (
    <>
      <PageHead title="Announcements" />
      <EmptyState title="No announcements">News to all users.</EmptyState>
    </>
  );
}
