import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Charges() {
  return (
    <>
      <PageHead title="Charges" />
      <EmptyState title="No charges">Each charge is listed with its reason.</EmptyState>
    </>
  );
}
