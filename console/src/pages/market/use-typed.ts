import { useCallback, useEffect, useRef, useState } from "react";
import { later } from "../../clock.ts";

/** The address follows a text that is typed when no key came for this long: writing it costs as much as a search. */
const PAUSE_MS = 400;

/**
 * A text that is typed into a field and kept in the address. What is typed shows at once; the address follows in a pause.
 * `choose` writes it at once, for buttons, and stays the same function. Another address, such as that of the way back, replaces what is typed.
 */
export function useTyped(kept: string, keep: (text: string) => void) {
  const [typed, setTyped] = useState<string>();
  const written = useRef(kept);
  const cancel = useRef<(() => void) | undefined>(undefined);
  useEffect(() => {
    if (kept === written.current) return;
    written.current = kept;
    cancel.current?.();
    setTyped(undefined);
  }, [kept]);
  useEffect(() => () => cancel.current?.(), []);
  const choose = useCallback(
    (text: string) => {
      cancel.current?.();
      written.current = text;
      setTyped(text);
      keep(text);
    },
    [keep],
  );
  const type = (text: string) => {
    setTyped(text);
    cancel.current?.();
    cancel.current = later(PAUSE_MS, () => choose(text));
  };
  return { text: typed ?? kept, type, choose };
}
