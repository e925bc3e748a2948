import { useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { instancePage } from "../../../sdk/src/index.ts";
import { ask } from "../api/query.ts";
import { useSignOut } from "../api/session.ts";
import type { Entry, NavSection } from "./sections.ts";

type Parameters = { readonly id: string } | { readonly page: string };
type Common = {
  readonly id: string;
  readonly label: string;
  readonly group: string;
  /** Further words under which it is found. */
  readonly words: string;
};
export type Command = Common &
  (
    | { readonly kind: "go"; readonly to: Entry["to"]; readonly params?: Parameters }
    | { readonly kind: "run"; readonly run: () => void }
  );

const SHOWN_MAX = 12;
const RECENT_INSTANCES = 20;

/** Everything that the palette finds. */
export function useCommands(sections: readonly NavSection[]): readonly Command[] {
  const { toggleColorScheme } = useMantineColorScheme();
  const signOut = useSignOut();
  const recent = useQuery(ask("instance.recent", instancePage, { query: { limit: RECENT_INSTANCES } })).data;
  const help = useHelpCommands();
  const pages = sections.flatMap(({ name, entries }) =>
    entries.map(({ label, to, words = "" }) => pageCommand({ label, to, words, section: name })),
  );
  const instances = (recent?.instances ?? []).flatMap(({ id, label }): readonly Command[] => {
    if (typeof id !== "number") return [];
    const name = typeof label === "string" && label !== "" ? ` ${label}` : "";
    return [
      {
        kind: "go",
        id: `instance-${id}`,
        label: `Instance ${id}${name}`,
        group: "Instance",
        words: "",
        to: "/instances/$id",
        params: { id: String(id) },
      },
    ];
  });
  const actions: readonly Command[] = [
    {
      kind: "run",
      id: "colours",
      label: "Change between light and dark",
      group: "Action",
      words: "theme colours",
      run: toggleColorScheme,
    },
    { kind: "run", id: "sign-out", label: "Sign out", group: "Action", words: "leave", run: () => signOut.mutate() },
  ];
  return [...pages, ...instances, ...actions, ...help];
}

/** The help pages, found by their titles and headings. Their index is loaded when the palette is first open. */
function useHelpCommands(): readonly Command[] {
  const { data = [] } = useQuery({
    queryKey: ["help"],
    queryFn: async () => (await import("../pages/help/docs.ts")).HELP_ENTRIES,
    staleTime: Infinity,
  });
  return data.map(({ name, title, headings }) => ({
    kind: "go",
    id: `help-${name}`,
    label: title,
    group: "Help",
    words: `help ${headings.map(({ text }) => text).join(" ")}`,
    to: "/help/$page",
    params: { page: name },
  }));
}

function pageCommand({
  label,
  to,
  words,
  section,
}: {
  readonly label: string;
  readonly to: Entry["to"];
  readonly words: string;
  readonly section: string;
}): Command {
  return { kind: "go", id: to.replaceAll("/", "-"), label, group: section, words: `${words} ${section}`, to };
}

/** Commands that have every word, those first whose label begins with the text. */
export function findCommands(commands: readonly Command[], text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = commands.filter((command) => {
    const all = `${command.label} ${command.words}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
  const begins = ({ label }: Command) => (label.toLowerCase().startsWith(words[0] ?? "") ? 0 : 1);
  return matching.toSorted((one, other) => begins(one) - begins(other)).slice(0, SHOWN_MAX);
}
