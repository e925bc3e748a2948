// The pages of docs/, which console/help-chunks.ts makes at build time: an index, and each page as a file of its own.
import type { HelpEntry, HelpGroup, HelpPage } from "./nodes.ts";

const entries = import.meta.glob<{ readonly entry: HelpEntry }>(
  ["../../../../docs/*.md", "!../../../../docs/ARCHITECTURE.md"],
  { query: "?entry", eager: true },
);
const pages = import.meta.glob<{ readonly page: HelpPage }>([
  "../../../../docs/*.md",
  "!../../../../docs/ARCHITECTURE.md",
]);
const readme = import.meta.glob<{ readonly groups: readonly HelpGroup[] }>(["../../../../README.md"], {
  query: "?groups",
  eager: true,
});

export const HELP_ENTRIES: readonly HelpEntry[] = Object.values(entries)
  .map(({ entry }) => entry)
  .toSorted((one, other) => one.title.localeCompare(other.title));

const named = Object.values(readme).flatMap(({ groups }) => groups);
const inGroups = new Set(named.flatMap((group) => group.pages));
const others = HELP_ENTRIES.map(({ name }) => name).filter((name) => !inGroups.has(name));

/** Groups as the README has them; pages that it does not name there come first. */
export const HELP_GROUPS: readonly HelpGroup[] = [
  ...(others.length === 0 ? [] : [{ name: "Begin", pages: others }]),
  ...named,
];

/** The page of this name; undefined when there is none. */
export async function loadHelpPage(name: string): Promise<HelpPage | undefined> {
  const loaders = Object.entries(pages).map(([file, load]) => [nameOf(file), load] as const);
  return (await new Map(loaders).get(name)?.())?.page;
}

const nameOf = (file: string) => (file.split("/").at(-1) ?? "").replace(/\.md$/, "").toLowerCase();

export type HelpFound = {
  readonly entry: HelpEntry;
  readonly heading?: { readonly id: string; readonly text: string };
};

/** Pages that have every word in title, headings or first words, those first whose title has them all. */
export function findHelp(text: string): readonly HelpFound[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (place: string) => words.every((word) => place.toLowerCase().includes(word));
  const found = HELP_ENTRIES.flatMap((entry): readonly (HelpFound & { readonly rank: number })[] => {
    if (has(entry.title)) return [{ entry, rank: 0 }];
    const heading = entry.headings.find((each) => has(each.text));
    if (heading !== undefined) return [{ entry, heading, rank: 1 }];
    const all = [entry.title, entry.name, entry.first, ...entry.headings.map((each) => each.text)].join(" ");
    return has(all) ? [{ entry, rank: 2 }] : [];
  });
  return found.toSorted((one, other) => one.rank - other.rank);
}
