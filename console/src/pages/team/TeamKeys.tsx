import { useQuery } from "@tanstack/react-query";
import { teamApikeys } from "../../../../sdk/src/index.ts";
import { askPlain } from "../../api/query.ts";
import { scopesText } from "../../forms/key-scopes.ts";
import { Answer } from "../../parts/Answer.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";

/** Keys with which members act for the team. Each member makes and deletes their own on the page of keys. */
export function TeamKeys() {
  const keys = useQuery(askPlain("team.keys", teamApikeys));
  return (
    <Answer query={keys}>
      {(answer) => {
        const holders = new Map(
          Object.values(answer.keys)
            .flat()
            .map((key) => [key.id, key]),
        );
        return (
          <DataTable
            label="Keys of the team"
            rows={answer.apikeys}
            keyOf={({ id }) => id}
            empty={<EmptyState title="No keys">Members make keys of the team on the page Keys.</EmptyState>}
            columns={[
              {
                key: "name",
                title: "Name",
                isName: true,
                cell: ({ id, name }) => <HostileText text={name === "" ? `Key ${id}` : name} />,
              },
              {
                key: "holder",
                title: "Held by",
                isOnCard: true,
                cell: ({ id }) => <HostileText text={holders.get(id)?.username ?? "–"} />,
              },
              {
                key: "may",
                title: "May do",
                isOnCard: true,
                cell: ({ permissions }) => scopesText(permissions),
              },
              { key: "made", title: "Made", isOnCard: true, cell: ({ created_at: at }) => <Ago at={at} /> },
            ]}
          />
        );
      }}
    </Answer>
  );
}
