import { EmptyState } from "../../ui/EmptyState.tsx";

export function InstanceFiles() {
  return <EmptyState title="No files yet">Files in the container.</EmptyState>;
}
