// Every page of the console, and states of some, as people of the seeded market open them.
import type { Page } from "playwright-core";
import { until } from "../../until.ts";
import type { SeededMarket } from "./seed.ts";

type Reader = "mira" | "host" | "operator" | "nobody";

export type ShownPage = {
  /** The name of its picture. */
  readonly name: string;
  /** The address as the router has it, such as `/instances/$id`. */
  readonly route: string;
  /** The person who opens it. */
  readonly by: Reader;
  /** The values for each `$` of the address. */
  readonly param?: (market: SeededMarket) => number | string;
  readonly search?: (market: SeededMarket) => string;
  /** The steps of the person before the picture is taken. */
  readonly prepare?: (page: Page) => Promise<void>;
};

function of(
  by: Reader,
  pages: Readonly<Record<string, string | Omit<ShownPage, "name" | "by">>>,
): readonly ShownPage[] {
  return Object.entries(pages).map(([name, page]) =>
    typeof page === "string" ? { name, by, route: page } : { name, by, ...page },
  );
}

const trainer = ({ rentals }: SeededMarket) => rentals.trainer;
const endpoint = (market: SeededMarket) => market.endpoint;
const instance = (below: string) => ({ route: `/instances/$id${below}`, param: trainer });

const RENT = of("mira", {
  market: "/market",
  offer: { route: "/market", search: () => "?q=gpu_name%3DH100_SXM", prepare: openFirst },
  rent: { route: "/market", search: () => "?q=gpu_name%3DRTX_6000Ada", prepare: chooseTemplate },
  instances: "/instances",
  instance: instance(""),
  "instance-loading": { route: "/instances/$id", param: ({ rentals }) => rentals.evaluation },
  "instance-outbid": { route: "/instances/$id", param: ({ rentals }) => rentals.sweep },
  terminal: { ...instance("/terminal"), prepare: type },
  files: instance("/files"),
  logs: instance("/logs"),
  events: instance("/events"),
  "instance-charges": instance("/charges"),
  "instance-settings": instance("/settings"),
  queue: "/queue",
  templates: "/templates",
  template: { route: "/templates/$id", param: ({ template }) => template },
  volumes: "/volumes",
});

const SERVE = of("mira", {
  endpoints: "/endpoints",
  endpoint: { route: "/endpoints/$id", param: endpoint },
  "endpoint-settings": { route: "/endpoints/$id/settings", param: endpoint },
  "endpoint-request": { route: "/endpoints/$id/request", param: endpoint },
  deployments: "/deployments",
  deployment: { route: "/deployments/$id", param: ({ deployment }) => deployment },
});

const MONEY = of("mira", {
  money: "/money",
  charges: "/money/charges",
  invoices: "/money/invoices",
  limits: "/money/limits",
  "top-up": "/money/top-up",
});

const HOST = of("host", {
  machines: "/host/machines",
  machine: { route: "/host/machines/$id", param: ({ machine }) => machine },
  earnings: "/host/earnings",
  payouts: "/host/payouts",
  join: "/host/join",
});

const ACCOUNT = of("mira", {
  team: "/team",
  account: "/account",
  keys: "/account/keys",
  "ssh-keys": "/account/ssh-keys",
  secrets: "/account/secrets",
  security: "/account/security",
  sessions: "/account/sessions",
  notifications: "/account/notifications",
  preferences: "/account/notifications/preferences",
  webhooks: "/account/notifications/webhooks",
  "audit-log": "/account/audit-log",
  schedules: "/account/schedules",
});

const OPERATE = of("operator", {
  operate: "/operate",
  "operate-search": { route: "/operate/search", search: () => "?q=fjord" },
  users: "/operate/users",
  user: { route: "/operate/users/$id", param: ({ mira }) => mira.id },
  invitations: "/operate/invitations",
  "all-machines": "/operate/machines",
  "all-instances": "/operate/instances",
  "house-money": "/operate/money",
  loops: "/operate/loops",
  reports: "/operate/reports",
  announcements: "/operate/announcements",
  settings: "/operate/settings",
});

const HELP = of("mira", {
  help: "/help",
  "help-page": { route: "/help/$page", param: () => "rent" },
  reference: "/help/reference",
});

const OUTSIDE = of("nobody", { "sign-in": "/sign-in", "sign-up": "/sign-up", "reset-password": "/reset-password" });

export const SHOWN_PAGES: readonly ShownPage[] = [
  ...[...RENT, ...SERVE, ...MONEY, ...HOST, ...ACCOUNT, ...OPERATE, ...HELP, ...OUTSIDE],
];

/** The address at which the page is opened. */
function addressOf({ route, param, search }: ShownPage, market: SeededMarket): string {
  const path = param === undefined ? route : route.replace(/\$\w+/, String(param(market)));
  return `${path}${search?.(market) ?? ""}`;
}

/** Opens a page and waits until all that it asked for is there. */
export async function open(page: Page, shown: ShownPage, market: SeededMarket): Promise<void> {
  await page.goto(addressOf(shown, market));
  await atRest(page);
  await shown.prepare?.(page);
  await atRest(page);
}

/** Goes to a page as a link does: the code and the answers of the pages before stay in the browser. */
export async function goTo(page: Page, shown: ShownPage, market: SeededMarket): Promise<void> {
  const address = addressOf(shown, market);
  await page.evaluate(`__TSR_ROUTER__.history.push(${JSON.stringify(address)})`);
  await until(`the page ${address}`, () =>
    page.evaluate<boolean>(`(({ status, location, resolvedLocation }) => status === "idle" && location === resolvedLocation &&
      location.pathname === ${JSON.stringify(address.split("?")[0])})(__TSR_ROUTER__.state)`),
  );
  await atRest(page);
  await shown.prepare?.(page);
  await atRest(page);
}

async function atRest(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  const waiting = page.locator("[role=status][aria-label^=Loading]");
  while ((await waiting.count()) > 0) await waiting.first().waitFor({ state: "detached" });
}

async function openFirst(page: Page): Promise<void> {
  // A phone shows cards with a button in the place of rows.
  const onPhone = page.getByRole("button", { name: /^Open/ });
  await page.getByRole("rowheader").or(onPhone).first().click();
  await page.getByRole("dialog").waitFor();
}

async function chooseTemplate(page: Page): Promise<void> {
  await page
    .getByRole("button", { name: /^Rent / })
    .first()
    .click();
  const panel = page.getByRole("dialog");
  await panel.getByLabel("Template").selectOption({ label: "PyTorch 2.8" });
  await panel.getByRole("button", { name: /^Rent for/ }).waitFor();
}

async function type(page: Page): Promise<void> {
  await page.locator(".xterm-rows").getByText("This instance is simulated").waitFor();
  await page.keyboard.type("nvidia-smi\n");
}
