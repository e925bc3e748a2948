// The pages of the console as its router names them, read from its source: the router itself loads in a browser only.
import { readFileSync } from "node:fs";
import path from "node:path";

const CONSOLE = path.join(import.meta.dirname, "../../../console/src");
const FILES = ["router.tsx", "serve-routes.ts"];
const ROUTE = /const (\w+) = createRoute\(\{\s*getParentRoute: \(\) => (\w+),\s*(?:path|id): "([^"]*)",([^]*?)\n\}\);/g;

/** Addresses of all pages, such as `/instances/$id/logs`, without those that lead to another page or only frame others. */
export function routedPages(): readonly string[] {
  const sources = FILES.map((file) => readFileSync(path.join(CONSOLE, file), "utf8"));
  const routes = sources.flatMap((source) => {
    const found = [...source.matchAll(ROUTE)];
    if (found.length !== source.split("createRoute(").length - 1) throw new Error("a route is written in another way");
    return found.map(([, name = "", parent = "", below = "", rest = ""]) => ({ name, parent, below, rest }));
  });
  const byName = new Map(routes.map((route) => [route.name, route]));
  const parents = new Set(routes.map(({ parent }) => parent));
  const addressOf = (name: string): string => {
    const route = byName.get(name);
    if (route === undefined || route.name === "outer") return "";
    return [addressOf(route.parent), route.below === "/" ? "" : route.below].filter((part) => part !== "").join("/");
  };
  return routes
    .filter(({ name, rest }) => !parents.has(name) && rest.includes("component:"))
    .map(({ name }) => `/${addressOf(name)}`);
}
