import { useState } from "react";

/**
 * A value behind the `#` of the address, such as the token of a link, and takes it out of the address: neither the history of
 * the browser nor a picture of the screen keeps it.
 */
export function useFragment(name: string): string | undefined {
  const [value] = useState(() => {
    const { hash, pathname, search } = globalThis.location;
    const found = new URLSearchParams(hash.slice(1)).get(name) ?? undefined;
    if (found !== undefined) globalThis.history.replaceState(globalThis.history.state, "", `${pathname}${search}`);
    return found === "" ? undefined : found;
  });
  return value;
}
