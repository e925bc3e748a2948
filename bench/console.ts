// The market page of the console with many offers, in a real browser: how soon it shows something, how soon it takes a
// key, and how long a key press takes to become rows. The control is a page without a framework that draws the same
// answers from its own memory. The figures count only when the page showed what the API answers for each text.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { systemClock } from "../server/src/base/clock.ts";
import { withTransaction } from "../server/src/db/transaction.ts";
import { MARKET_CHANNEL } from "../server/src/domains/supply/hosts/for-assembly.ts";
import { notifyMachines } from "../server/src/domains/supply/hosts/for-instances.ts";
import { builtConsole } from "../test/support/console/built-console.ts";
import { openBrowser } from "../test/support/console/open-browser.ts";
import { readNumbers } from "./support/arguments.ts";
import { startBenchServer, type BenchServer } from "./support/berth-server.ts";
import { Answers, controlPage, type Answer } from "./support/console/answers.ts";
import { countBytes, firstContentMs, installProbe, pressUntil, untilShown } from "./support/console/page-probe.ts";
import { describeEnvironment } from "./support/environment.ts";
import { quantile, rounded, table } from "./support/figures.ts";
import { seedOffers } from "./support/seed-offers.ts";
import { waitForOffers } from "./support/seed.ts";

const DEFAULTS = { offers: 10_000, visits: 5, rounds: 3 };
type Options = Readonly<typeof DEFAULTS>;

/** Each is typed key by key; a key counts when its answer differs from that of the key before. */
const TYPED = ["num_gpus>=4 dph_total<12.5 reliability>0.95", "gpu_ram>=24 inet_down>1500 cpu_ram>100"];
/** A text that the next key completes, for the first key of a visit. */
const BEGUN = "num_gpus>=";
const FIRST_KEY = "4";
const FILTER = "input[data-page-search]";
const VIEWPORT = { width: 1_360, height: 850 };

/** Milliseconds of visits with an empty cache, and of visits after another one. */
type Visits = { readonly cold: readonly number[]; readonly warm: readonly number[] };
export type ConsoleFigures = {
  readonly contentMs: Visits;
  readonly rowsMs: Visits;
  /** From the start of a visit to the rows for a key that was pressed as soon as the field was there. */
  readonly firstKeyMs: Visits;
  readonly keysMs: readonly number[];
  readonly controlContentMs: readonly number[];
  readonly controlKeysMs: readonly number[];
  /** Milliseconds that the API took for the same texts, as the benchmark's own client sees it. */
  readonly answersMs: readonly number[];
  /** Bytes on the wire of a first visit, by kind. */
  readonly bytes: ReadonlyMap<string, number>;
};

type Place = { readonly url: string; readonly browser: Browser; readonly answers: Answers; readonly key: string };

export async function run(args: readonly string[]): Promise<void> {
  await measureConsole(readNumbers(args, DEFAULTS));
}

/** Runs the benchmark and returns its figures; throws when the page shows another answer than the API gives. */
export async function measureConsole(options: Options): Promise<ConsoleFigures> {
  await builtConsole();
  const ends: (() => Promise<void>)[] = [];
  const server = await startBenchServer();
  try {
    console.log(describeEnvironment(server.dataDir));
    await fillMarket(server, options.offers);
    const answers = new Answers(server);
    const browser = await openBrowser({ after: (end) => void ends.push(end) });
    const place = { url: server.url, browser, answers, key: server.adminKey };
    const control = await startControl(await answers.ofPrefixes(TYPED));
    ends.push(async () => void control.close());
    const figures = { ...(await visit(place, options)), ...(await type(place, { control, options })) };
    console.log(`\n${rounded((await answers.of("")).matching)} offers that can be rented.`);
    return report(figures);
  } finally {
    for (const end of ends) await end();
    await server.stop();
  }
}

async function fillMarket(server: BenchServer, offers: number): Promise<void> {
  const { database } = server;
  const ids = await seedOffers(database, offers);
  await withTransaction(database, systemClock, (tx) => notifyMachines(tx, MARKET_CHANNEL, ids));
  await waitForOffers(server, 1);
}

/** Visits the market several times, each time in a browser that has loaded nothing, and once more in the same browser. */
async function visit(place: Place, { visits }: Options) {
  const [content, rows, firstKey] = [emptyVisits(), emptyVisits(), emptyVisits()];
  let bytes: ReadonlyMap<string, number> = new Map();
  const begun = await place.answers.of("");
  const keyed = await place.answers.of(BEGUN + FIRST_KEY);
  for (let round = 0; round < visits; round += 1) {
    const context = await signIn(place);
    for (const kind of ["cold", "warm"] as const) {
      const page = await context.newPage();
      const counted = await countBytes(page);
      await installProbe(page, begun);
      await page.goto(`/market`, { waitUntil: "commit" });
      rows[kind].push(await untilShown(page));
      content[kind].push(await firstContentMs(page));
      if (kind === "cold") bytes = counted;
      await page.close();
    }
    await context.close();
    const again = await signIn(place);
    for (const kind of ["cold", "warm"] as const) firstKey[kind].push(await pressAtOnce(again, keyed));
    await again.close();
  }
  return { contentMs: content, rowsMs: rows, firstKeyMs: firstKey, bytes };
}

function emptyVisits(): { readonly cold: number[]; readonly warm: number[] } {
  return { cold: [], warm: [] };
}

async function signIn({ browser, url, key }: Place): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL: url, viewport: VIEWPORT });
  const answer = await context.request.post(`${url}/api/v0/auth/browser/`, {
    data: { api_key: key },
    headers: { "x-berth-console": "1" },
  });
  if (!answer.ok()) throw new Error(`signing in was answered ${answer.status()}: ${await answer.text()}`);
  return context;
}

/** Presses a key as soon as there is a field for it, and returns the milliseconds from the start of the visit to its rows. */
async function pressAtOnce(context: BrowserContext, wanted: Answer): Promise<number> {
  const page = await context.newPage();
  await installProbe(page, wanted);
  await page.goto(`/market?q=${encodeURIComponent(BEGUN)}`, { waitUntil: "commit" });
  await page.locator(FILTER).press("End");
  await page.keyboard.press(FIRST_KEY);
  const shownMs = await untilShown(page);
  await page.close();
  return shownMs;
}

type Typing = { readonly control: Server; readonly options: Options };

/** Types the texts into the market and into the control, in turns. */
async function type(place: Place, { control, options: { rounds } }: Typing) {
  const context = await signIn(place);
  const [keys, controlKeys, controlContent]: number[][] = [[], [], []];
  const { port } = control.address() as AddressInfo; // It listens on a port.
  for (let round = 0; round < rounds; round += 1) {
    for (const text of TYPED) {
      keys?.push(...(await typeInto(context, { address: "/market", text, answers: place.answers })));
      const address = `http://127.0.0.1:${port}/`;
      const plain = { address, text, answers: place.answers };
      controlKeys?.push(...(await typeInto(context, plain, (ms) => controlContent?.push(ms))));
    }
  }
  await context.close();
  return {
    ...{ keysMs: keys ?? [], controlKeysMs: controlKeys ?? [], controlContentMs: controlContent ?? [] },
    answersMs: place.answers.tookMs,
  };
}

type Text = { readonly address: string; readonly text: string; readonly answers: Answers };

async function typeInto(
  context: BrowserContext,
  { address, text, answers }: Text,
  onContent: (ms: number) => void = () => {},
): Promise<readonly number[]> {
  const page = await context.newPage();
  let before = await answers.of("");
  await installProbe(page, before);
  await page.goto(address, { waitUntil: "commit" });
  await untilShown(page);
  onContent(await firstContentMs(page));
  await page.locator(FILTER).focus();
  const times: number[] = [];
  for (const end of text.split("").keys()) {
    const wanted = (await answers.find(text.slice(0, end + 1))) ?? before;
    if (wanted.text === before.text) await page.keyboard.press(keyOf(text[end]));
    else times.push(await pressUntil(page, keyOf(text[end]), wanted));
    before = wanted;
  }
  await assertField(page, text);
  await page.close();
  return times;
}

function keyOf(character = ""): string {
  return character === " " ? "Space" : character;
}

/** Throws unless every key arrived. */
async function assertField(page: Page, text: string): Promise<void> {
  const typed = await page.locator(FILTER).inputValue();
  if (typed !== text) throw new Error(`the field has ${JSON.stringify(typed)} instead of ${JSON.stringify(text)}`);
}

async function startControl(answers: ReadonlyMap<string, Answer>): Promise<Server> {
  const html = controlPage(answers);
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function report(figures: ConsoleFigures): ConsoleFigures {
  const { contentMs, rowsMs, firstKeyMs, keysMs, controlContentMs, controlKeysMs, answersMs, bytes } = figures;
  const middle = (values: readonly number[]) => rounded(quantile(values, 0.5));
  const most = (values: readonly number[]) => rounded(Math.max(...values));
  const both = (name: string, { cold, warm }: Visits, control = "-") => [
    [`${name}, empty cache`, middle(cold), most(cold), control],
    [`${name}, again`, middle(warm), most(warm), control],
  ];
  const sum = (...kinds: readonly string[]) => kinds.reduce((total, kind) => total + (bytes.get(kind) ?? 0), 0);
  console.log(
    table([
      ["milliseconds", "p50", "most", "control p50"],
      ...both("first content", contentMs, middle(controlContentMs)),
      ...both("rows", rowsMs),
      ...both("first key takes effect", firstKeyMs),
    ]),
  );
  console.log(
    table([
      ["milliseconds", "p50", "p95", "n"],
      ["key press to rows", rounded(quantile(keysMs, 0.5), 1), rounded(quantile(keysMs, 0.95), 1), `${keysMs.length}`],
      [
        ...[
          "control: from memory",
          rounded(quantile(controlKeysMs, 0.5), 1),
          rounded(quantile(controlKeysMs, 0.95), 1),
        ],
        `${controlKeysMs.length}`,
      ],
      [
        ...["the API alone", rounded(quantile(answersMs, 0.5), 1), rounded(quantile(answersMs, 0.95), 1)],
        `${answersMs.length}`,
      ],
    ]),
  );
  console.log(
    `First visit: ${rounded(sum("Script", "Stylesheet") / 1000)} kB of scripts and styles, ` +
      `${rounded([...bytes.values()].reduce((total, one) => total + one, 0) / 1000)} kB in all.\n` +
      "Audit passed: the page showed the first offers and the count that the API answers, for each text.",
  );
  return figures;
}
