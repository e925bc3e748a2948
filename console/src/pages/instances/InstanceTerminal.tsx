import { EmptyState } from "../../ui/EmptyState.tsx";

export function InstanceTerminal() {
  return <EmptyState title="No terminal yet">A shell in the container.</EmptyState>;
}
