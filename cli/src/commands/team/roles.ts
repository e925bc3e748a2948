import {
  teamCreateRole,
  teamDeleteRole,
  teamRolesFull,
  teamUpdateRole,
  type TeamRolesFullAnswer,
} from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";

type Options = ConnectionOptions & { readonly json?: boolean };
type Role = TeamRolesFullAnswer[number];

const COLUMNS: readonly Column<Role>[] = [
  { title: "ID", cell: (role) => role.id },
  { title: "NAME", cell: (role) => role.name },
  { title: "IDENTIFIER", cell: (role) => role.identifier },
  { title: "ALLOWS", cell: ({ permissions }) => categoriesOf(permissions) },
];

export async function listRoles(options: Options): Promise<void> {
  const answer = await teamRolesFull(connect(options));
  printAnswer(answer, options, (roles) => renderTable(roles, COLUMNS, "The team has no roles."));
}

export async function createRole(name: string, permissions: object, options: Options): Promise<void> {
  const answer = await teamCreateRole(connect(options), { body: { name, permissions } });
  printAnswer(answer, options, ({ id }) => `The role ${name} is created, with the id ${id}.`);
}

export async function updateRole(
  id: number,
  permissions: object,
  options: Options & { readonly name?: string },
): Promise<void> {
  const body = { permissions, ...given({ name: options.name }) };
  const answer = await teamUpdateRole(connect(options), { name: String(id), body });
  printAnswer(answer, options, () => `Role ${id} is changed, for all members who have it.`);
}

export async function deleteRole(name: string, options: Options): Promise<void> {
  const answer = await teamDeleteRole(connect(options), { name });
  printAnswer(answer, options, () => `The role ${name} is deleted.`);
}

/** Names of categories; a category that a role has only in part is marked. */
function categoriesOf(permissions: Role["permissions"]): string {
  const api: unknown = Reflect.get(permissions, "api");
  if (typeof api !== "object" || api === null) return "";
  return Object.entries(api)
    .map(([category, operations]) => (isEmpty(operations) ? category : `${category} (in part)`))
    .join(", ");
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
