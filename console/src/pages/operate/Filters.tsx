import { Button, NativeSelect, TextInput } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { later } from "../../clock.ts";
import { Icon } from "../../ui/Icon.tsx";
import classes from "./operate.module.css";

/** A search begins when nothing was typed for this long. */
const PAUSE_MS = 250;

type FiltersProps = {
  /** Names the field: "Find people". */
  readonly label: string;
  readonly placeholder: string;
  readonly q: string | undefined;
  readonly onText: (text: string | undefined) => void;
  readonly children?: ReactNode;
};

/** A field for text, with fields that narrow the list down beside it. */
export function Filters({ label, placeholder, q, onText, children }: FiltersProps) {
  return (
    <search className={classes["filters"]}>
      <SearchField key={label} label={label} placeholder={placeholder} q={q} onText={onText} />
      {children}
    </search>
  );
}

function SearchField({ label, placeholder, q = "", onText }: Omit<FiltersProps, "children">) {
  const [typed, setTyped] = useState(q);
  const [known, setKnown] = useState(q);
  // The address has changed by itself, such as with the back button.
  if (q !== known) {
    setKnown(q);
    if (q !== typed.trim()) setTyped(q);
  }
  useEffect(() => {
    const text = typed.trim();
    if (text === known) return undefined;
    return later(PAUSE_MS, () => onText(text === "" ? undefined : text));
  }, [typed, known, onText]);
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      size="xs"
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      leftSection={<Icon name="search" size={14} />}
      data-page-search
      spellCheck={false}
      autoComplete="off"
    />
  );
}

type ChoiceProps<W extends string> = {
  readonly label: string;
  /** Values of the address with the words that stand for them. */
  readonly words: readonly (readonly [value: W, word: string])[];
  readonly value: W | undefined;
  readonly onChange: (value: W | undefined) => void;
};

/** One of these words, or any. */
export function Choice<W extends string>({ label, words, value, onChange }: ChoiceProps<W>) {
  return (
    <NativeSelect
      label={label}
      size="xs"
      value={value ?? ""}
      data={[{ value: "", label: "Any" }, ...words.map(([key, word]) => ({ value: key, label: word }))]}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        onChange(words.find(([key]) => key === chosen)?.[0]);
      }}
    />
  );
}

type PagerProps = {
  /** The token of the page that is shown; undefined for the first one. */
  readonly after: string | undefined;
  readonly nextToken: string | null | undefined;
  readonly onPage: (after: string | undefined) => void;
};

/** Buttons to the next page of a list, and back to its beginning. */
export function Pager({ after, nextToken, onPage }: PagerProps) {
  const next = nextToken ?? undefined;
  if (after === undefined && next === undefined) return null;
  return (
    <nav className={classes["pager"]} aria-label="Pages">
      {after !== undefined && (
        <Button variant="default" onClick={() => onPage(undefined)}>
          First page
        </Button>
      )}
      {next !== undefined && (
        <Button variant="default" onClick={() => onPage(next)}>
          Next page
        </Button>
      )}
    </nav>
  );
}
