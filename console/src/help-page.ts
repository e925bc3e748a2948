import { notFound } from "@tanstack/react-router";

/** The page of this name, which is loaded with the index of all when somebody opens it. */
export async function helpPageOf(name: string) {
  const { loadHelpPage } = await import("./pages/help/docs.ts");
  const page = await loadHelpPage(name);
  if (page === undefined) throw notFound();
  return page;
}
