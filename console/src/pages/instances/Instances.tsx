import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Instances() {
  return (
    <>
      <PageHead title="Instances" />
      <EmptyState title="No instances">
        Rent a machine on the market, and it is listed here with its state, cost and connection.
      </EmptyState>
    </>
  );
}
