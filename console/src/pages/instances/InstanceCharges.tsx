import { EmptyState } from "../../ui/EmptyState.tsx";

export function InstanceCharges() {
  return <EmptyState title="No charges yet">Each charge with its reason.</EmptyState>;
}
