import { Modal, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState, type KeyboardEvent } from "react";
import { Icon } from "../ui/Icon.tsx";
import { type Command, findCommands, useCommands } from "./commands.ts";
import type { NavSection } from "./sections.ts";
import classes from "./palette.module.css";

type Props = { readonly isOpen: boolean; readonly onClose: () => void; readonly sections: readonly NavSection[] };

/** Finds pages, instances and actions by some letters. */
export function Palette({ isOpen, onClose, sections }: Props) {
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      yOffset="12vh"
      size={560}
      title="Search"
      classNames={{ header: "visually-hidden" }}
    >
      {isOpen && <Finder onClose={onClose} sections={sections} />}
    </Modal>
  );
}

function Finder({ onClose, sections }: Omit<Props, "isOpen">) {
  const [words, setWords] = useState("");
  const [index, setIndex] = useState(0);
  const navigate = useNavigate();
  const found = findCommands(useCommands(sections), words);
  const chosen = found[Math.min(index, found.length - 1)];
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    onClose();
    if (command.kind === "go") void navigate({ to: command.to, ...(command.params && { params: command.params }) });
    else command.run();
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setIndex((last) => Math.max(0, Math.min(found.length - 1, last + step)));
    else if (event.key === "Enter") run(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <div>
      <TextInput
        aria-label="Search pages, instances and actions"
        placeholder="Pages, instances, actions"
        variant="unstyled"
        className={classes["field"]}
        leftSection={<Icon name="search" />}
        role="combobox"
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={chosen === undefined ? undefined : `palette-${chosen.id}`}
        value={words}
        onChange={(event) => {
          setWords(event.currentTarget.value);
          setIndex(0);
        }}
        onKeyDown={press}
        data-autofocus
      />
      <div role="listbox" id="palette-list" aria-label="Found" className={classes["list"]}>
        {found.map((command) => (
          <div
            key={command.id}
            id={`palette-${command.id}`}
            role="option"
            tabIndex={-1}
            aria-selected={command === chosen}
            className={classes["option"]}
            onClick={() => run(command)}
            onKeyDown={press}
          >
            <span>{command.label}</span>
            <span className={classes["group"]}>{command.group}</span>
          </div>
        ))}
        {found.length === 0 && <p className={classes["none"]}>Nothing is called so.</p>}
      </div>
    </div>
  );
}
