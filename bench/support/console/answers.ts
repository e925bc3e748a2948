import { callApi, type BenchServer } from "../berth-server.ts";
import { ROWS_COMPARED } from "./page-probe.ts";

/** The API's answer to a text: the first offers in order, how many match, and both as the probe reads them. */
export type Answer = { readonly ids: readonly number[]; readonly matching: number; readonly text: string };

type Found = { readonly offers: readonly { readonly id: number }[]; readonly matching: number };

/** Answers of the API to the texts that are typed, each asked once. */
export class Answers {
  readonly #server: BenchServer;
  readonly #known = new Map<string, Answer | undefined>();
  /** Milliseconds that each question took. */
  readonly tookMs: number[] = [];

  constructor(server: BenchServer) {
    this.#server = server;
  }

  /** The answer to a text; throws when the API refuses it. */
  async of(text: string): Promise<Answer> {
    const answer = await this.find(text);
    if (answer === undefined) throw new Error(`the API refuses the search ${JSON.stringify(text)}`);
    return answer;
  }

  /** The answer to a text; undefined when the API refuses it, as it does while a condition is half typed. */
  async find(text: string): Promise<Answer | undefined> {
    if (!this.#known.has(text)) this.#known.set(text, await this.#ask(text).catch(() => undefined));
    return this.#known.get(text);
  }

  /** The answers to each text and to each beginning of it. */
  async ofPrefixes(texts: readonly string[]): Promise<ReadonlyMap<string, Answer>> {
    const found = new Map<string, Answer>([["", await this.of("")]]);
    for (const text of texts) {
      let last = await this.of("");
      for (const end of text.split("").keys()) {
        last = (await this.find(text.slice(0, end + 1))) ?? last;
        found.set(text.slice(0, end + 1), last);
      }
    }
    return found;
  }

  async #ask(text: string): Promise<Answer> {
    const q = { q: `rentable=true ${text}`.trim(), order: [["score", "desc"]], limit: ROWS_COMPARED };
    const startMs = performance.now();
    const found = (await callApi(this.#server, this.#server.adminKey, {
      method: "PUT",
      path: "/api/v0/search/asks/",
      body: { select_cols: ["id"], q },
    })) as Found;
    this.tookMs.push(performance.now() - startMs);
    const ids = found.offers.map(({ id }) => id);
    const { matching } = found;
    return { ids, matching, text: `${ids.join()} ${matching}` };
  }
}

/** A page without a framework: it draws the answer to what is typed from its own memory. */
export function controlPage(answers: ReadonlyMap<string, Answer>): string {
  const data = JSON.stringify([...answers]).replaceAll("<", String.raw`\u003c`);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Control</title>
<input data-page-search aria-label="Text"><p aria-live="polite"><strong></strong></p><table></table>
<script>
const answers = new Map(${data});
const draw = (text) => {
  const answer = answers.get(text);
  if (answer === undefined) return;
  document.querySelector("strong").textContent = answer.matching;
  const rows = answer.ids.map((id) => "<tr><td><button aria-label='Rent, offer " + id + "'>Rent</button></td></tr>");
  document.querySelector("table").innerHTML = rows.join("");
};
const field = document.querySelector("input");
field.addEventListener("input", () => draw(field.value));
draw("");
</script>`;
}
