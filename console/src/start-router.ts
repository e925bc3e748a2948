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

/** Begins to load the code of the page at this address, while the server is asked who the person is. */
export function preloadPage(): void {
  const [routes] = router.getMatchedRoutes(router.latestLocation.pathname);
  // A page that cannot be loaded says so when it is shown.
  for (const route of routes) router.loadRouteChunk(route)?.catch(() => {});
}
