import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Schedules() {
  return (
    <>
      <PageHead title="Schedules" />
      <EmptyState title="No schedules">A schedule repeats a request at its times.</EmptyState>
    </>
  );
}
