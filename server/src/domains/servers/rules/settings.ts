/** Settings that must be equal on all servers of one database: values by the names of their variables. */
export type SharedSettings = Readonly<Record<string, string>>;

export type SettingDifference = { readonly name: string; readonly mine: string; readonly theirs: string };

const ABSENT = "not set";

/** The settings in which two servers differ, by name. A setting that only one of them knows is no difference. */
export function settingDifferences(mine: SharedSettings, theirs: SharedSettings): readonly SettingDifference[] {
  return Object.keys(mine)
    .filter((name) => name in theirs && mine[name] !== theirs[name])
    .toSorted()
    .map((name) => ({ name, mine: mine[name] || ABSENT, theirs: theirs[name] || ABSENT }));
}
