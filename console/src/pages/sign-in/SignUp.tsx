import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function SignUp() {
  return (
    <>
      <PageHead title="Create an account" />
      <EmptyState title="Sign-up is not here yet">The command line does it already.</EmptyState>
    </>
  );
}
