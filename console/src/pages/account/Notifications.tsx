import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Notifications() {
  return (
    <>
      <PageHead title="Notifications" />
      <EmptyState title="No notifications">News about your instances, machines and money.</EmptyState>
    </>
  );
}
