import { EmptyState } from "../../ui/EmptyState.tsx";

export function InstanceEvents() {
  return <EmptyState title="No events yet">What happened to the instance, and why.</EmptyState>;
}
