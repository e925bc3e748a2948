import { EmptyState } from "../../ui/EmptyState.tsx";

export function InstanceLogs() {
  return <EmptyState title="No logs yet">Output of the container.</EmptyState>;
}
