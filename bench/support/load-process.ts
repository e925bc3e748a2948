/**
 * The load generator: a process of its own with plain keep-alive connections. It speaks just enough HTTP/1.1 to be cheap,
 * because it shares the cores with what it measures: node's own client costs more than the server that it asks.
 */
import { connect } from "node:net";

export type Job = {
  readonly port: number;
  readonly connections: number;
  /** Whole requests as they go over the wire; each connection takes the next one. */
  readonly requests: readonly string[];
  /** Sends the list over and over for so long; undefined sends each request once. */
  readonly repeatMs: number | undefined;
  /** Requests a second, each with a moment of its own from which its latency counts; absent: as fast as it goes. */
  readonly perSecond?: number;
  /** True when answers are handed back, and not only counted. */
  readonly keepsAnswers: boolean;
};

export type Answer = { readonly status: number; readonly body: string };

export type JobResult = {
  readonly elapsedMs: number;
  readonly count: number;
  /** How many answers had each status. */
  readonly statuses: ReadonlyMap<number, number>;
  readonly latenciesMs: Float64Array;
  /** Answers to the requests, in their order; empty unless asked for. */
  readonly answers: readonly (Answer | undefined)[];
  readonly cpuMs: number;
};

class Run {
  readonly #job: Job;
  readonly #statuses = new Map<number, number>();
  readonly #latencies: number[] = [];
  readonly #answers: (Answer | undefined)[];
  readonly #startMs = performance.now();
  #next = 0;

  constructor(job: Job) {
    this.#job = job;
    this.#answers = job.keepsAnswers ? Array.from({ length: job.requests.length }, () => undefined) : [];
  }

  async perform(): Promise<JobResult> {
    const cpu = process.cpuUsage();
    await Promise.all(Array.from({ length: this.#job.connections }, () => this.#drive()));
    const elapsedMs = performance.now() - this.#startMs;
    const { user, system } = process.cpuUsage(cpu);
    const statuses = this.#statuses;
    const answers = this.#answers;
    const latencies = this.#latencies;
    const cpuMs = (user + system) / 1000;
    return { elapsedMs, count: latencies.length, statuses, latenciesMs: Float64Array.from(latencies), answers, cpuMs };
  }

  /** Drives one connection: the next request goes out when the answer to the last one is complete. */
  #drive(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: this.#job.port, host: "127.0.0.1", noDelay: true });
      let index = 0;
      let sentMs = 0;
      const send = () => {
        const taken = this.#take();
        if (taken === undefined) {
          resolve();
          socket.destroy();
          return;
        }
        index = taken.index;
        const nowMs = performance.now();
        const write = () => socket.write(this.#job.requests[index] ?? "");
        sentMs = taken.dueMs ?? nowMs;
        if (sentMs > nowMs) setTimeout(write, Math.ceil(sentMs - nowMs));
        else write();
      };
      const reader = new AnswerReader(this.#job.keepsAnswers, (answer) => {
        this.#latencies.push(performance.now() - sentMs);
        this.#statuses.set(answer.status, (this.#statuses.get(answer.status) ?? 0) + 1);
        if (this.#job.keepsAnswers) this.#answers[index] = answer;
        send();
      });
      socket.on("connect", send);
      socket.on("data", (chunk: Buffer) => reader.read(chunk));
      socket.on("error", reject);
      socket.on("close", () => reject(new Error("the server closed the connection")));
    });
  }

  #take(): { readonly index: number; readonly dueMs: number | undefined } | undefined {
    const { repeatMs, requests, perSecond } = this.#job;
    const dueMs = perSecond === undefined ? undefined : this.#startMs + (this.#next * 1000) / perSecond;
    if (repeatMs !== undefined && (dueMs ?? performance.now()) - this.#startMs >= repeatMs) return undefined;
    if (repeatMs === undefined && this.#next >= requests.length) return undefined;
    const index = this.#next % requests.length;
    this.#next += 1;
    return { index, dueMs };
  }
}

const HEAD_END = "\r\n\r\n";

/** Finds the end of each answer by its Content-Length, which every answer of the servers measured here has. */
class AnswerReader {
  readonly #keepsBody: boolean;
  readonly #onAnswer: (answer: Answer) => void;
  #pending: Buffer | undefined;

  constructor(keepsBody: boolean, onAnswer: (answer: Answer) => void) {
    this.#keepsBody = keepsBody;
    this.#onAnswer = onAnswer;
  }

  read(chunk: Buffer): void {
    const data = this.#pending === undefined ? chunk : Buffer.concat([this.#pending, chunk]);
    this.#pending = data;
    const headEnd = data.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const head = data.toString("latin1", 0, headEnd);
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (length === undefined) throw new Error(`an answer without Content-Length: ${head}`);
    const end = headEnd + HEAD_END.length + Number(length);
    if (data.length < end) return;
    this.#pending = undefined;
    const body = this.#keepsBody ? data.toString("utf8", headEnd + HEAD_END.length, end) : "";
    this.#onAnswer({ status: Number(head.slice(9, 12)), body });
  }
}

/** Performs a job: for tests of the generator itself and for the process below. */
export function performJob(job: Job): Promise<JobResult> {
  return new Run(job).perform();
}

if (import.meta.main) {
  process.on("message", (job: Job) => {
    performJob(job).then(
      (result) => process.send?.({ result }),
      (error: unknown) => process.send?.({ problem: String(error) }),
    );
  });
  process.on("disconnect", () => process.exit());
}
