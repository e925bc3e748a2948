/** Reads `--name 5` arguments that are whole numbers; what is not given keeps its default. */
export function readNumbers<Name extends string>(
  args: readonly string[],
  defaults: Readonly<Record<Name, number>>,
): Readonly<Record<Name, number>> {
  const read: Record<string, number> = { ...defaults };
  for (let index = 0; index < args.length; index += 2) {
    const name = args[index]?.replace(/^--/, "") ?? "";
    const value = args[index + 1] ?? "";
    if (!Object.hasOwn(defaults, name) || !/^\d{1,9}$/.test(value)) {
      const known = Object.entries(defaults).map(([each, preset]) => `--${each} ${String(preset)}`);
      throw new Error(`cannot read "${args[index]} ${value}"; there are: ${known.join(" ")}`);
    }
    read[name] = Number(value);
  }
  return read as Record<Name, number>; // The names are those of the defaults.
}
