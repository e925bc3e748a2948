import { getRouteApi, Link } from "@tanstack/react-router";
import { PageHead } from "../../ui/PageHead.tsx";
import { Blocks } from "./Blocks.tsx";
import classes from "./help.module.css";

const route = getRouteApi("/frame/help/$page");

/** One page of the documentation. */
export function Page() {
  const { title, blocks } = route.useLoaderData();
  return (
    <>
      <PageHead title={title} note={<Link to="/help">All help pages</Link>} />
      <article className={classes["article"]}>
        <Blocks blocks={blocks} />
      </article>
    </>
  );
}
