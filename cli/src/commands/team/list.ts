import { teamList, type TeamListAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";

type Team = TeamListAnswer["teams"][number];

const COLUMNS: readonly Column<Team>[] = [
  { title: "ID", cell: (team) => team.id },
  { title: "NAME", cell: (team) => team.team_name },
  { title: "YOUR ROLE", cell: (team) => team.role },
];

export async function listTeams(options: ConnectionOptions & { readonly json?: boolean }): Promise<void> {
  const answer = await teamList(connect(options));
  printAnswer(answer, options, ({ teams }) => renderTable(teams, COLUMNS, "You are a member of no team."));
}
