import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { adminSearch, type SearchHit } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import { AccountLink } from "./links.tsx";
import { SearchBox } from "./SearchBox.tsx";
import classes from "./operate.module.css";

const route = getRouteApi("/frame/operate/search");
const KINDS: readonly (readonly [kind: SearchHit["kind"], title: string])[] = [
  ["person", "People"],
  ["team", "Teams"],
  ["machine", "Machines"],
  ["instance", "Instances"],
  ["volume", "Volumes"],
  ["document", "Documents"],
  ["payout", "Payouts"],
];

/** Everything that matches a text, by kind. */
export function Search() {
  const { q = "" } = route.useSearch();
  return (
    <>
      <PageHead title="Search everything" note="People, teams, machines, instances, volumes, documents and payouts" />
      <SearchBox key={q} q={q} />
      {q !== "" && <Found q={q} />}
    </>
  );
}

function Found({ q }: { readonly q: string }) {
  const found = useQuery(ask("operator.search", adminSearch, { query: { q } }));
  return (
    <Answer query={found}>
      {({ results, is_cut: isCut }) => (
        <div aria-live="polite">
          {results.length === 0 && (
            <Section title="Nothing found">
              <EmptyState title="Nothing has this id, name, address, label or number">
                Parts of names and addresses are found in any case; documents by the first characters of their number.
              </EmptyState>
            </Section>
          )}
          {KINDS.map(([kind, title]) => (
            <Hits key={kind} title={title} hits={results.filter((hit) => hit.kind === kind)} />
          ))}
          {isCut && <p className="dim">Ten of a kind are shown at most. Type more to narrow them down.</p>}
        </div>
      )}
    </Answer>
  );
}

function Hits({ title, hits }: { readonly title: string; readonly hits: readonly SearchHit[] }) {
  if (hits.length === 0) return null;
  return (
    <Section title={title}>
      <ul className={classes["list"]}>
        {hits.map((hit) => (
          <li key={hit.id} className={classes["entry"]}>
            <div>
              <p className={classes["entryTitle"]}>
                <HitLink hit={hit} />
              </p>
              <p className={classes["entryText"]}>
                <HostileText text={hit.detail} />
              </p>
            </div>
            {hit.kind !== "person" && hit.kind !== "team" && <AccountLink id={hit.user_id} />}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function HitLink({ hit: { kind, id, title, user_id: userId } }: { readonly hit: SearchHit }) {
  const name = <HostileText text={title} />;
  if (kind === "machine") {
    return (
      <Link to="/operate/machines" search={{ q: id }}>
        {name}
      </Link>
    );
  }
  if (kind === "instance") {
    return (
      <Link to="/operate/instances" search={{ q: id }}>
        {name}
      </Link>
    );
  }
  if (kind === "payout") return <Link to="/operate/money">{name}</Link>;
  return (
    <Link to="/operate/users/$id" params={{ id: String(userId) }}>
      {name}
    </Link>
  );
}
