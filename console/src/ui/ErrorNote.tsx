import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { CopyButton } from "./CopyButton.tsx";
import { HostileText } from "./HostileText.tsx";
import { Icon } from "./Icon.tsx";
import classes from "./notes.module.css";

export type Problem = {
  /** The event, and the thing that it happened to. */
  readonly what: string;
  /** The next step of the person. */
  readonly advice?: string | undefined;
  readonly requestId?: string | undefined;
};

type Props = { readonly problem: Problem; readonly onRetry?: (() => void) | undefined; readonly children?: ReactNode };

/** A failure: what happened, what to do, the id under which the server logged it, and a button where trying again may help. */
export function ErrorNote({ problem, onRetry, children }: Props) {
  return (
    <div className={classes["error"]} role="alert">
      <Icon name="alert" />
      <div>
        <p className={classes["title"]}>
          <HostileText text={problem.what} />
        </p>
        {problem.advice !== undefined && <p className={classes["text"]}>{problem.advice}</p>}
        {children}
        {problem.requestId !== undefined && (
          <p className={classes["request"]}>
            Request <code>{problem.requestId}</code> <CopyButton text={problem.requestId} what="the request id" />
          </p>
        )}
        {onRetry !== undefined && (
          <Button variant="default" mt={8} onClick={onRetry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  );
}
