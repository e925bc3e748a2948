import {
  teamAcceptInvite,
  teamInvite,
  teamMembers,
  teamRemoveMember,
  teamSetMemberRole,
  type TeamMembersAnswer,
} from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";

type Options = ConnectionOptions & { readonly json?: boolean };
type Member = TeamMembersAnswer[number];

const COLUMNS: readonly Column<Member>[] = [
  { title: "ID", cell: (member) => member.id },
  { title: "USER", cell: (member) => member.username },
  { title: "EMAIL", cell: (member) => member.email },
  { title: "NAME", cell: (member) => member.fullname },
  { title: "ROLE", cell: (member) => member.role },
];

export async function listMembers(options: Options): Promise<void> {
  const answer = await teamMembers(connect(options));
  printAnswer(answer, options, (members) => renderTable(members, COLUMNS, "The team has no members."));
}

export async function invite(email: string, role: string, options: Options): Promise<void> {
  const answer = await teamInvite(connect(options), { body: { email, role } });
  printAnswer(answer, options, ({ token }) =>
    [
      `${email} is invited as ${role}, for four hours. With a key of that account:`,
      "",
      `  berth team accept ${token}`,
    ].join("\n"),
  );
}

export async function accept(token: string, options: Options): Promise<void> {
  const answer = await teamAcceptInvite(connect(options), { token });
  printAnswer(answer, options, ({ msg, key }) => `${msg} Your key of the team is shown only now:\n\n  ${key}`);
}

export async function setRole(id: number, role: string, options: Options): Promise<void> {
  const answer = await teamSetMemberRole(connect(options), { id: String(id), body: { role } });
  printAnswer(answer, options, ({ msg }) => msg);
}

export async function remove(id: number, options: Options): Promise<void> {
  const answer = await teamRemoveMember(connect(options), { id: String(id) });
  printAnswer(answer, options, () => `User ${id} is no longer a member; their keys of the team no longer work.`);
}
