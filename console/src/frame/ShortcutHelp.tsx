import { Modal } from "@mantine/core";
import type { NavSection } from "./sections.ts";
import classes from "./shortcut-help.module.css";

type Props = { readonly isOpen: boolean; readonly onClose: () => void; readonly sections: readonly NavSection[] };

const ANYWHERE = [
  ["Ctrl K", "Search pages, instances and actions"],
  ["/", "Search on this page"],
  [".", "Actions of this page"],
  ["?", "This help"],
  ["Esc", "Close what is open"],
] as const;
const LISTS = [
  ["j k", "Next and previous row"],
  ["x", "Choose the row"],
  ["Enter", "Open the row"],
] as const;

/** All keys that do something. */
export function ShortcutHelp({ isOpen, onClose, sections }: Props) {
  const go = sections.flatMap(({ name, entries }) =>
    entries.flatMap(({ key, label }) =>
      key === undefined
        ? []
        : [[`g ${key}`, name === "Operate" || name === "Money" ? `${name}: ${label}` : label] as const],
    ),
  );
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard" size="lg" closeButtonProps={{ "aria-label": "Close" }}>
      <div className={classes["groups"]}>
        <Keys title="Anywhere" keys={ANYWHERE} />
        <Keys title="In lists" keys={LISTS} />
        <Keys title="Go to" keys={go} />
      </div>
    </Modal>
  );
}

function Keys({ title, keys }: { readonly title: string; readonly keys: readonly (readonly [string, string])[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl className={classes["keys"]}>
        {keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              {key.split(" ").map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
