import type { JsonSchema } from "../openapi.ts";
import { shapeOf } from "../published.ts";
import { MONEY_MEMBERS } from "./money.ts";
import { PEOPLE_MEMBERS } from "./people.ts";
import { RENTAL_MEMBERS } from "./rental.ts";
import { SERVERLESS_MEMBERS } from "./serverless.ts";
import { SUPPLY_MEMBERS } from "./supply.ts";

/**
 * Members that clients read in the answers of published operations. A line is a path and the members there, such as
 * `rows[]: id name`, or members of the answer itself. `[]` stands for every element of a list, `*` for every value of an
 * object, and `?` after a member that only some answers have: the description of the operation must have it.
 */
export type MemberTable = Readonly<Record<string, readonly string[]>>;

export const MEMBERS: MemberTable = {
  ...SUPPLY_MEMBERS,
  ...RENTAL_MEMBERS,
  ...PEOPLE_MEMBERS,
  ...MONEY_MEMBERS,
  ...SERVERLESS_MEMBERS,
};

/** Published operations whose good answers have no members: a text, nothing, a number, a refusal, or a worker's own words. */
export const WITHOUT_MEMBERS: readonly string[] = [
  "PUT /api/v0/bundles/{id}/",
  "PUT /api/v0/bundles_bid_price/{id}/",
  "DELETE /api/v0/auth/apikeys/{id}/",
  "GET /api/v1/instances/lite/",
  "GET /api/v0/overlay/",
  "POST /api/v0/users/cloud/",
  "DELETE /api/v0/users/cloud/",
  "POST /api/v0/commands/rclone/",
  "DELETE /api/v0/commands/rclone/",
  "POST /api/v0/cluster/",
  "PUT /api/v0/cluster/",
  "DELETE /api/v0/cluster/",
  "DELETE /api/v0/cluster/remove_machine/",
  "POST /api/v0/overlay/",
  "PUT /api/v0/overlay/",
  "DELETE /api/v0/overlay/",
  "GET /pubkey/",
  "GET /static/jvastai_root.cer",
  "POST /api/v0/sign_cert/",
  "POST /worker_status/",
  "POST /delete_requests/",
  "POST /{endpoint}/v1/chat/completions",
  "POST /{endpoint}/v1/completions",
  "POST /{endpoint}/chat/completions",
  "POST /{endpoint}/completions",
];

const BY_SHAPE = new Map(Object.entries(MEMBERS).map(([name, lines]) => [shapeOf(name), lines]));

/** Members that clients need of this operation and that the answer lacks, or its description where the answer has no row. */
export function missingMembers(
  operation: string,
  answer: unknown,
  described: JsonSchema | undefined,
): readonly string[] {
  return missingOf(BY_SHAPE.get(shapeOf(operation)) ?? [], answer, described);
}

export function missingOf(lines: readonly string[], answer: unknown, described: JsonSchema = {}): readonly string[] {
  return lines.flatMap(pathsOf).filter((path) => !hasMember(stepsOf(path), answer, described));
}

function pathsOf(line: string): readonly string[] {
  const [first = "", second] = line.split(": ");
  const [prefix, words] = second === undefined ? ["", first] : [first, second];
  return words.split(" ").map((word) => (prefix === "" ? word : `${prefix}.${word}`));
}

function stepsOf(path: string): readonly string[] {
  return path
    .replaceAll("[]", ".[]")
    .split(".")
    .filter((step) => step !== "");
}

/** True when the answer has the member, or, where it has no row to look at, its description has it. */
function hasMember([step, ...rest]: readonly string[], value: unknown, described: JsonSchema): boolean {
  if (step === undefined) return true;
  const inDescription = () => isDescribed([step, ...rest], described);
  if (step === "[]") {
    if (!Array.isArray(value)) return false;
    const rows: readonly unknown[] = value;
    return rows.length === 0 ? inDescription() : rows.every((row) => hasMember(rest, row, next(described, step)));
  }
  if (typeof value !== "object" || value === null) return value === null && inDescription();
  if (step === "*") {
    const values = Object.values(value);
    return values.length === 0 ? inDescription() : values.every((one) => hasMember(rest, one, next(described, step)));
  }
  const name = step.replace("?", "");
  const found: unknown = new Map(Object.entries(value)).get(name);
  if (found === undefined) return step.endsWith("?") && inDescription();
  return rest.length === 0 || hasMember(rest, found, next(described, name));
}

function isDescribed([step, ...rest]: readonly string[], described: JsonSchema): boolean {
  if (step === undefined) return true;
  const name = step.replace("?", "");
  return variantsOf(described).some((one) => {
    const below = partOf(one, name);
    if (below === undefined) return false;
    const isSure = ["[]", "*"].includes(step) || step !== name || one.required?.includes(name) === true;
    return isSure && isDescribed(rest, below);
  });
}

/** The description of what lies below, of all variants that have it. */
function next(described: JsonSchema, step: string): JsonSchema {
  return { anyOf: variantsOf(described).flatMap((one) => partOf(one, step) ?? []) };
}

function partOf(one: JsonSchema, step: string): JsonSchema | undefined {
  if (step === "[]") return one.items;
  if (step !== "*") return one.properties?.[step];
  const { patternProperties = {}, additionalProperties: others } = one;
  return Object.values(patternProperties)[0] ?? (typeof others === "object" ? others : undefined);
}

function variantsOf(described: JsonSchema): readonly JsonSchema[] {
  const variants = described.anyOf ?? described.oneOf;
  return variants === undefined ? [described] : variants.flatMap(variantsOf);
}
