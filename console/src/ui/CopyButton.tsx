import { ActionIcon, Tooltip } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { Icon } from "./Icon.tsx";

/** Copies `text`; `what` names it for the label, such as "the SSH command". */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const clipboard = useClipboard({ timeout: 2_000 });
  const label = clipboard.copied ? "Copied" : `Copy ${what}`;
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} size="sm" onClick={() => clipboard.copy(text)}>
        <Icon name={clipboard.copied ? "check" : "copy"} size={14} />
      </ActionIcon>
    </Tooltip>
  );
}
