import { Button, Group, Modal, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";

type Props = {
  readonly isOpen: boolean;
  /** The question: "Destroy instance 7?" */
  readonly title: ReactNode;
  /** The button's words: "Destroy". */
  readonly action: string;
  /** States what will be lost; undefined when nothing is. */
  readonly loss?: ReactNode;
  /** A text that has to be typed first, where there is data to lose. */
  readonly typed?: string | undefined;
  readonly isDangerous?: boolean;
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  /** A note about a failure of the last try. */
  readonly children?: ReactNode;
};

/** A question before something that cannot be taken back. */
export function Confirm({ isOpen, title, action, loss, typed, isDangerous = true, isBusy, ...more }: Props) {
  const { onConfirm, onClose, children } = more;
  const [text, setText] = useState("");
  const isReady = typed === undefined || text.trim() === typed;
  const close = () => {
    setText("");
    onClose();
  };
  return (
    <Modal opened={isOpen} onClose={close} title={title} centered closeButtonProps={{ "aria-label": "Close" }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) onConfirm();
        }}
      >
        {loss !== undefined && <div>{loss}</div>}
        {typed !== undefined && (
          <TextInput
            mt={12}
            label={`Type ${typed} to confirm`}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
        )}
        {children}
        <Group justify="flex-end" mt={20} gap={8}>
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" color={isDangerous ? "red" : "sea"} disabled={!isReady} loading={isBusy === true}>
            {action}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
