import { Link } from "@tanstack/react-router";
import { PageHead } from "../../ui/PageHead.tsx";

/** The answer to an address at which the console has no page. */
export function Unknown() {
  return (
    <>
      <PageHead title="There is no such page" note="The address may be mistyped, or the thing may have ended." />
      <Link to="/">To your instances</Link>
    </>
  );
}
