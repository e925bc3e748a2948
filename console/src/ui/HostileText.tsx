import { Fragment } from "react";
import { piecesOf } from "../text/hostile.ts";

/**
 * Text that somebody else wrote. Marks that change the direction of text are shown as their code point, and the text
 * around stays in its order.
 */
export function HostileText({ text }: { readonly text: string }) {
  return (
    <bdi>
      {piecesOf(text).map(({ text: piece, isMark }, index) => (
        // A piece has no name; the list is made again with the text.
        <Fragment key={index}>{isMark ? <mark title="A mark that would not be seen">{piece}</mark> : piece}</Fragment>
      ))}
    </bdi>
  );
}
