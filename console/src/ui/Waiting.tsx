import { Skeleton } from "@mantine/core";
import { useEffect, useState } from "react";
import { later } from "../clock.ts";

/** An answer that comes within this time is never preceded by a skeleton. */
const PATIENCE_MS = 150;

/** The place of something that loads: nothing at first, then as many grey rows as it will have. */
export function Waiting({ rows = 6, what = "Loading" }: { readonly rows?: number; readonly what?: string }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => later(PATIENCE_MS, () => setShown(true)), []);
  const lines = Array.from({ length: rows }, (_, index) => index);
  return (
    <div role="status" aria-label={what} style={{ minHeight: rows * 36 }}>
      {isShown && lines.map((line) => <Skeleton key={line} height={20} mb={16} radius="sm" />)}
    </div>
  );
}
