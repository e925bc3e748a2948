import { Drawer } from "@mantine/core";
import type { ReactNode } from "react";

type Props = {
  readonly title: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Width in pixels on a wide screen; a phone shows it over its whole width. */
  readonly width?: number;
};

/** A panel at the right edge, over the page it belongs to. Escape closes it and the focus returns. */
export function Panel({ title, isOpen, onClose, children, width = 520 }: Props) {
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      title={title}
      position="right"
      size={width}
      padding="lg"
      closeButtonProps={{ "aria-label": "Close" }}
      overlayProps={{ backgroundOpacity: 0.25 }}
    >
      {children}
    </Drawer>
  );
}
