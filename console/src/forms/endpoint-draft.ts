// Settings of an endpoint while a person changes them, and another person may, too.
import type { Endpoint } from "../../../sdk/src/index.ts";
import { labelOf, PARAMETER_NAMES, valuesOf, type ParameterValues } from "./endpoint-parameters.tsx";

/** The fields of the form: the name and the parameters. */
export type Fields = { readonly name: string; readonly values: ParameterValues };

/** A field that somebody else changed while a draft was open. */
export type Difference = {
  readonly label: string;
  readonly before: string | number;
  readonly now: string | number;
  /** The person's own value, where they had changed the field as well; it stays in the draft. */
  readonly own: string | number | undefined;
};

export function fieldsOf(endpoint: Endpoint): Fields {
  return { name: endpoint.endpoint_name, values: valuesOf(endpoint) };
}

export function isSame(one: Fields, other: Fields): boolean {
  return one.name === other.name && PARAMETER_NAMES.every((name) => one.values[name] === other.values[name]);
}

/**
 * The draft on top of newer settings: what the person changed stays, everything else follows the server. A field that the
 * server has as the draft has it was saved from here, and is no difference.
 */
export function rebase(
  draft: Fields,
  { from, to }: { readonly from: Fields; readonly to: Fields },
): { readonly draft: Fields; readonly differences: readonly Difference[] } {
  const differences: Difference[] = [];
  const follow = <Value extends string | number>(label: string, [own, before, now]: readonly [Value, Value, Value]) => {
    const isOwn = own !== before;
    if (now !== before && now !== own) differences.push({ label, before, now, own: isOwn ? own : undefined });
    return isOwn ? own : now;
  };
  const name = follow("Name", [draft.name, from.name, to.name]);
  const values = Object.fromEntries(
    PARAMETER_NAMES.map((key) => [key, follow(labelOf(key), [draft.values[key], from.values[key], to.values[key]])]),
  );
  return { draft: { name, values: { ...to.values, ...values } }, differences };
}
