// Addresses of the pages about endpoints and deployments, for router.tsx.
import { createRoute, lazyRouteComponent as lazy } from "@tanstack/react-router";
import { frame } from "./roots.ts";
import { flag, searchOf, whole } from "./search.ts";

const endpoints = createRoute({
  getParentRoute: () => frame,
  path: "endpoints",
  validateSearch: searchOf({ create: flag }),
  component: lazy(() => import("./pages/endpoints/Endpoints.tsx"), "Endpoints"),
});
const endpoint = createRoute({
  getParentRoute: () => frame,
  path: "endpoints/$id",
  component: lazy(() => import("./pages/endpoints/Endpoint.tsx"), "Endpoint"),
});
const endpointOverview = createRoute({
  getParentRoute: () => endpoint,
  path: "/",
  validateSearch: searchOf({ hours: whole, worker: whole }),
  component: lazy(() => import("./pages/endpoints/EndpointOverview.tsx"), "EndpointOverview"),
});
const endpointSettings = createRoute({
  getParentRoute: () => endpoint,
  path: "settings",
  component: lazy(() => import("./pages/endpoints/EndpointSettings.tsx"), "EndpointSettings"),
});
const endpointRequest = createRoute({
  getParentRoute: () => endpoint,
  path: "request",
  component: lazy(() => import("./pages/endpoints/EndpointRequest.tsx"), "EndpointRequest"),
});
const deployments = createRoute({
  getParentRoute: () => frame,
  path: "deployments",
  component: lazy(() => import("./pages/deployments/Deployments.tsx"), "Deployments"),
});
const deployment = createRoute({
  getParentRoute: () => frame,
  path: "deployments/$id",
  component: lazy(() => import("./pages/deployments/Deployment.tsx"), "Deployment"),
});

export const serveRoutes = [
  endpoints,
  endpoint.addChildren([endpointOverview, endpointSettings, endpointRequest]),
  deployments,
  deployment,
] as const;
