import { EmptyState } from "../../ui/EmptyState.tsx";

export function InstanceOverview() {
  return <EmptyState title="Nothing to show yet">How to connect, ports and graphs.</EmptyState>;
}
