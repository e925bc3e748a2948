// The addresses below which all others lie.
import { createRootRoute, createRoute, Outlet } from "@tanstack/react-router";
import { Frame } from "./frame/Frame.tsx";
import { requirePerson } from "./frame/require-person.ts";
import { Broken } from "./pages/strays/Broken.tsx";
import { Unknown } from "./pages/strays/Unknown.tsx";

/** The root of all addresses. */
export const root = createRootRoute({ component: Outlet, notFoundComponent: Unknown, errorComponent: Broken });

/** Pages of a person who is signed in; others are sent to sign in, and come back. */
export const frame = createRoute({
  getParentRoute: () => root,
  id: "frame",
  component: Frame,
  beforeLoad: requirePerson,
});
