import { useQuery } from "@tanstack/react-query";
import { billingCards, ApiError } from "../../../../sdk/src/index.ts";
import { useSpending } from "../../api/me.ts";
import { askPlain } from "../../api/query.ts";
import { CreditTransfer } from "../../forms/credit-transfer.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { money } from "../../text/money.ts";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import { AutomaticPayments } from "./AutomaticPayments.tsx";
import { Cards } from "./Cards.tsx";
import { Prepaid } from "./Prepaid.tsx";

/** Ways to add credit: by card where the operator takes cards, otherwise from people; and to give it on. */
export function TopUp() {
  const left = useSpending()?.left;
  const cards = useQuery(askPlain("balance.cards", billingCards));
  const refusal =
    cards.error instanceof ApiError && cards.error.code === "payments_not_configured" ? cards.error : undefined;
  return (
    <>
      <PageHead title="Top-up" {...(left === undefined ? {} : { note: `You have ${money(left)}.` })} />
      {refusal === undefined ? (
        <Answer query={cards} rows={4}>
          {({ payment_methods: known }) => (
            <>
              <Cards cards={known} />
              <AutomaticPayments hasCard={known.length > 0} />
            </>
          )}
        </Answer>
      ) : (
        <EmptyState title="This service takes no cards">
          <HostileText text={refusal.msg} /> Somebody who has credit here can transfer some to you, too.
        </EmptyState>
      )}
      <Section title="Give credit to another account">
        <CreditTransfer />
      </Section>
      <Prepaid />
    </>
  );
}
