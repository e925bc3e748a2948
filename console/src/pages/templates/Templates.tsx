import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

export function Templates() {
  return (
    <>
      <PageHead title="Templates" />
      <EmptyState title="No templates">
        A template holds an image with its settings, so that renting takes one click.
      </EmptyState>
    </>
  );
}
