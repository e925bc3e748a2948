import { EmptyState } from "../../ui/EmptyState.tsx";

export function InstanceSettings() {
  return <EmptyState title="Nothing to show yet">Name, image and limits of the instance.</EmptyState>;
}
