import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function SshKeys() {
  return (
    <>
      <PageHead title="SSH keys" />
      <EmptyState title="No SSH keys">With an SSH key you connect to your instances.</EmptyState>
    </>
  );
}
