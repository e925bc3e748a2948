import { createRouter } from "@tanstack/react-router";
import { Broken } from "./pages/strays/Broken.tsx";
import { Unknown } from "./pages/strays/Unknown.tsx";
import { tree } from "./router.tsx";
import { plainSearch } from "./search.ts";

export const router = createRouter({
  routeTree: tree,
  ...plainSearch,
  defaultPreload: "intent",
  defaultNotFoundComponent: Unknown,
  defaultErrorComponent: Broken,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  // The library takes the types of all addresses from here.
  interface Register {
    router: typeof router;
  }
}
