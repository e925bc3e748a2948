import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Machines() {
  return (
    <>
      <PageHead title="Machines" />
      <EmptyState title="No machines">
        A machine that joined is listed here with its GPUs, rentals and earnings.
      </EmptyState>
    </>
  );
}
