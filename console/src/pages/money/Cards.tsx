import { Checkbox, NumberInput } from "@mantine/core";
import { useState } from "react";
import {
  billingCheckout,
  billingForgetCard,
  billingPreferCard,
  billingSaveCard,
  type CallOptions,
  type Card,
  type Client,
} from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Confirm } from "../../ui/Confirm.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Section } from "../../ui/PageHead.tsx";
import type { Column } from "../../ui/table-types.ts";
import { Payments } from "./Payments.tsx";
import classes from "./money.module.css";

const LEAST = 5;
const USUAL = 25;

/** Pay by card on the page of the provider, and the cards that are kept. */
export function Cards({ cards }: { readonly cards: readonly Card[] }) {
  return (
    <>
      <Section title="Pay by card">
        <PayByCard />
      </Section>
      <SavedCards cards={cards} />
      <Section title="Card payments">
        <Payments />
      </Section>
    </>
  );
}

function PayByCard() {
  const [amount, setAmount] = useState<number | string>(USUAL);
  const [savesCard, setSavesCard] = useState(false);
  const pay = useAction(billingCheckout, {
    changes: ["balance"],
    onDone: ({ url }) => globalThis.location.assign(url),
  });
  const body = { amount: Number(amount), save_card: savesCard };
  const submit = () => pay.mutate({ body });
  const reason = body.amount >= LEAST ? undefined : `A payment is at least $${LEAST}.`;
  return (
    <form
      className={classes["form"]}
      aria-label="Pay by card"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) submit();
      }}
    >
      <NumberInput label="Dollars" min={LEAST} decimalScale={2} prefix="$" value={amount} onChange={setAmount} />
      <Checkbox
        label="Keep the card for automatic payments"
        checked={savesCard}
        onChange={(event) => setSavesCard(event.currentTarget.checked)}
      />
      <p className={classes["note"]}>
        The number of the card is typed on the page of the provider, and never comes here.
      </p>
      {pay.error !== null && <Failure error={pay.error} onRetry={submit} />}
      <div className={classes["end"]}>
        <ActionButton variant="filled" onClick={submit} isBusy={pay.isPending} reason={reason}>
          Go to the payment page
        </ActionButton>
        <AsCommand
          command={["billing", "top-up", String(amount), ...(savesCard ? ["--save-card"] : [])]}
          request={{ method: "POST", path: "/api/v0/billing/checkout/", body }}
        />
      </div>
    </form>
  );
}

const saveCard = (client: Client, _input: undefined, options?: CallOptions) => billingSaveCard(client, options);

function SavedCards({ cards }: { readonly cards: readonly Card[] }) {
  const [leaving, setLeaving] = useState<Card>();
  const add = useAction(saveCard, { changes: ["balance"], onDone: ({ url }) => globalThis.location.assign(url) });
  const prefer = useAction(billingPreferCard, { changes: ["balance"] });
  const forget = useAction(billingForgetCard, { changes: ["balance"], onDone: () => setLeaving(undefined) });
  const error = add.error ?? prefer.error;
  return (
    <Section
      title="Saved cards"
      actions={
        <>
          <ActionButton onClick={() => add.mutate(undefined)} isBusy={add.isPending}>
            Save a card
          </ActionButton>
          <AsCommand
            command={["billing", "add-card"]}
            request={{ method: "POST", path: "/api/v0/billing/payment_methods/" }}
          />
        </>
      }
    >
      {error !== null && <Failure error={error} />}
      <DataTable
        label="Saved cards"
        rows={cards}
        keyOf={({ id }) => id}
        empty={<EmptyState title="No card is kept">Automatic payments need one.</EmptyState>}
        columns={cardColumns((card) => prefer.mutate({ id: card.id, body: { is_default: true } }), setLeaving)}
      />
      <Confirm
        isOpen={leaving !== undefined}
        title={`Remove the card …${leaving?.last4 ?? ""}?`}
        action="Remove"
        loss={
          <>
            <p>It is never charged again. Automatic payments go on with another saved card, or end.</p>
            <AsCommand
              command={["billing", "remove-card", String(leaving?.id)]}
              request={{ method: "DELETE", path: `/api/v0/billing/payment_methods/${leaving?.id}/` }}
            />
          </>
        }
        isBusy={forget.isPending}
        onConfirm={() => leaving !== undefined && forget.mutate({ id: leaving.id })}
        onClose={() => setLeaving(undefined)}
      >
        {forget.error !== null && <Failure error={forget.error} />}
      </Confirm>
    </Section>
  );
}

type CardAction = (card: Card) => void;

function cardColumns(onPrefer: CardAction, onRemove: CardAction): readonly Column<Card>[] {
  return [
    { key: "card", title: "Card", isName: true, cell: ({ brand, last4 }) => `${brand} …${last4}` },
    {
      key: "until",
      title: "Valid until",
      isOnCard: true,
      cell: ({ exp_month: month, exp_year: year }) => `${year}-${String(month).padStart(2, "0")}`,
    },
    {
      key: "default",
      title: "Charged automatically",
      isOnCard: true,
      cell: (card) =>
        card.is_default ? (
          "this one"
        ) : (
          <span className={classes["end"]}>
            <ActionButton size="compact-xs" onClick={() => onPrefer(card)}>
              Use this one
            </ActionButton>
            <AsCommand
              command={["billing", "use-card", String(card.id)]}
              request={{
                ...{ method: "PUT", path: `/api/v0/billing/payment_methods/${card.id}/` },
                body: { is_default: true },
              }}
            />
          </span>
        ),
    },
    {
      key: "remove",
      title: "Remove",
      isOnCard: true,
      cell: (card) => (
        <ActionButton size="compact-xs" color="red" onClick={() => onRemove(card)}>
          Remove
        </ActionButton>
      ),
    },
  ];
}
