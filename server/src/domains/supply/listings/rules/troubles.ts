/** The sentence on why a machine is out of rotation; undefined when it is in rotation. */
export function describeTroubles(restReason: string, problems: readonly string[]): string | undefined {
  const troubles = [restReason, ...problems].filter((trouble) => trouble !== "");
  return troubles.length === 0 ? undefined : troubles.join("; ");
}
