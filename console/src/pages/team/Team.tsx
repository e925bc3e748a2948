import { useQuery } from "@tanstack/react-query";
import { teamList } from "../../../../sdk/src/index.ts";
import { meQuery } from "../../api/me.ts";
import { askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { OneTeam } from "./OneTeam.tsx";
import { OwnTeams } from "./OwnTeams.tsx";

/** The team for which the person acts; for a person who acts for themselves, the teams that they are in. */
export function Team() {
  const me = useQuery(meQuery);
  const teams = useQuery(askPlain("team.list", teamList));
  return (
    <Answer query={me}>
      {({ id }) => (
        <Answer query={teams}>
          {(answer) => {
            const acting = answer.teams.find((team) => team.id === id);
            return acting === undefined ? <OwnTeams teams={answer.teams} /> : <OneTeam team={acting} />;
          }}
        </Answer>
      )}
    </Answer>
  );
}
