import { Button, Tooltip, type ButtonProps } from "@mantine/core";
import type { ReactNode } from "react";
import { useLive } from "../api/live.ts";

type Props = Pick<ButtonProps, "variant" | "color" | "size" | "leftSection" | "fullWidth"> & {
  readonly children: ReactNode;
  readonly onClick: () => void;
  /** The reason why it is not possible now, from the server; undefined when it is. */
  readonly reason?: string | undefined;
  readonly isBusy?: boolean;
};

/** A button of an action. While it is not possible it is shown with the reason; without the server nothing is possible. */
export function ActionButton({ children, onClick, reason, isBusy = false, variant = "default", ...more }: Props) {
  const { isConnected } = useLive();
  const why = isConnected ? reason : "The server cannot be reached now.";
  const button = (
    <Button
      {...more}
      variant={variant}
      loading={isBusy}
      {...(why === undefined ? {} : { "data-disabled": true })}
      aria-disabled={why !== undefined}
      onClick={() => {
        if (why === undefined) onClick();
      }}
    >
      {children}
    </Button>
  );
  if (why === undefined) return button;
  return (
    <Tooltip label={why} events={{ hover: true, focus: true, touch: true }}>
      {button}
    </Tooltip>
  );
}
