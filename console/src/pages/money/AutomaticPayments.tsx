import { useQuery } from "@tanstack/react-query";
import { billingAutobill } from "../../../../sdk/src/index.ts";
import { askPlain } from "../../api/query.ts";
import { AutobillChange } from "../../forms/autobill-change.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { Section } from "../../ui/PageHead.tsx";

/** The card is charged by itself when the balance is low. */
export function AutomaticPayments({ hasCard }: { readonly hasCard: boolean }) {
  const autobill = useQuery(askPlain("balance.autobill", billingAutobill));
  return (
    <Section title="Automatic payments">
      <Answer query={autobill} rows={3}>
        {(answer) => <AutobillChange key={JSON.stringify(answer)} autobill={answer} hasCard={hasCard} />}
      </Answer>
    </Section>
  );
}
