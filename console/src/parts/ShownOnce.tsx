import { Button, Group, Modal } from "@mantine/core";
import { CopyButton } from "../ui/CopyButton.tsx";
import { saveFile } from "./save-file.ts";
import classes from "./shown-once.module.css";

type Props = {
  readonly title: string;
  /** Says what it is, and what to do with it. */
  readonly note: string;
  /** The secret; undefined while there is none to show. */
  readonly text: string | undefined;
  /** Names it for the copy button: "the key". */
  readonly what: string;
  /** The name of a file to save it in. */
  readonly fileName?: string;
  readonly onClose: () => void;
};

/** A secret that the server shows this once. It goes with a button, and not with a click beside it. */
export function ShownOnce({ title, note, text, what, fileName, onClose }: Props) {
  return (
    <Modal
      opened={text !== undefined}
      onClose={onClose}
      title={title}
      centered
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <p>{note}</p>
      <div className={classes["secret"]}>
        <pre>{text}</pre>
        <CopyButton text={text ?? ""} what={what} />
      </div>
      <Group justify="flex-end" gap={8} mt={16}>
        {fileName !== undefined && (
          <Button variant="default" onClick={() => saveFile(fileName, `${text ?? ""}\n`)}>
            Save as a file
          </Button>
        )}
        <Button onClick={onClose} data-autofocus>
          I have kept it
        </Button>
      </Group>
    </Modal>
  );
}
