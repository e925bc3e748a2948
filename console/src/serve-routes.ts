// Addresses of the pages about endpoints and deployments, for router.tsx.
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "./code.ts";
import { frame } from "./roots.ts";
import { flag, searchOf, whole } from "./search.ts";

const endpoints = createRoute({
  getParentRoute: () => frame,
  path: "endpoints",
  validateSearch: searchOf({ create: flag }),
  component: lazyPage(() => import("./pages/endpoints/Endpoints.tsx"), "Endpoints"),
});
const endpoint = createRoute({
  getParentRoute: () => frame,
  path: "endpoints/$id",
  component: lazyPage(() => import("./pages/endpoints/Endpoint.tsx"), "Endpoint"),
});
const endpointOverview = createRoute({
  getParentRoute: () => endpoint,
  path: "/",
  validateSearch: searchOf({ hours: whole, worker: whole }),
  component: lazyPage(() => import("./pages/endpoints/EndpointOverview.tsx"), "EndpointOverview"),
});
const endpointSettings = createRoute({
  getParentRoute: () => endpoint,
  path: "settings",
  component: lazyPage(() => import("./pages/endpoints/EndpointSettings.tsx"), "EndpointSettings"),
});
const endpointRequest = createRoute({
  getParentRoute: () => endpoint,
  path: "request",
  component: lazyPage(() => import("./pages/endpoints/EndpointRequest.tsx"), "EndpointRequest"),
});
const deployments = createRoute({
  getParentRoute: () => frame,
  path: "deployments",
  component: lazyPage(() => import("./pages/deployments/Deployments.tsx"), "Deployments"),
});
const deployment = createRoute({
  getParentRoute: () => frame,
  path: "deployments/$id",
  component: lazyPage(() => import("./pages/deployments/Deployment.tsx"), "Deployment"),
});

export const serveRoutes = [
  endpoints,
  endpoint.addChildren([endpointOverview, endpointSettings, endpointRequest]),
  deployments,
  deployment,
] as const;
