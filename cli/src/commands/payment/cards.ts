import {
  billingCards,
  billingForgetCard,
  billingPreferCard,
  billingSaveCard,
  type BillingCardsAnswer,
} from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderTable, type Column } from "../../output.ts";

type Options = ConnectionOptions & { readonly json?: boolean };
type Card = BillingCardsAnswer["payment_methods"][number];

const COLUMNS: readonly Column<Card>[] = [
  { title: "ID", cell: ({ id }) => id },
  { title: "CARD", cell: ({ brand, last4 }) => `${brand} …${last4}` },
  { title: "EXPIRES", cell: ({ exp_month: month, exp_year: year }) => `${String(month).padStart(2, "0")}/${year}` },
  { title: "CHARGED", cell: ({ is_default: isDefault }) => (isDefault ? "automatically" : "") },
];

export async function listCards(options: Options): Promise<void> {
  const answer = await billingCards(connect(options));
  const emptyText = "You have saved no card. Save one: berth billing add-card";
  printAnswer(answer, options, ({ payment_methods: cards }) => renderTable(cards, COLUMNS, emptyText));
}

export async function addCard(options: Options): Promise<void> {
  const answer = await billingSaveCard(connect(options));
  printAnswer(answer, options, ({ url }) => `Leave your card on this page:\n${url}`);
}

export async function useCard(id: number, options: Options): Promise<void> {
  const answer = await billingPreferCard(connect(options), { id, body: { is_default: true } });
  printAnswer(answer, options, () => `Card ${id} is the one that is charged automatically.`);
}

export async function removeCard(id: number, options: Options): Promise<void> {
  const answer = await billingForgetCard(connect(options), { id });
  printAnswer(answer, options, () => `Card ${id} was removed.`);
}
