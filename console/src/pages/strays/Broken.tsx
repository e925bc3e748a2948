import type { ErrorComponentProps } from "@tanstack/react-router";
import { Failure } from "../../parts/Failure.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

/** Stands in for a page that failed. */
export function Broken({ error, reset }: Pick<ErrorComponentProps, "error" | "reset">) {
  return (
    <>
      <PageHead title="The page could not be shown" />
      <Failure error={error} onRetry={reset} />
    </>
  );
}
