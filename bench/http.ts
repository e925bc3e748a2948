// Authenticated reads of the real server beside the bare framework answering a constant of the same size.
import { readNumbers } from "./support/arguments.ts";
import { callApi, startBenchServer, type BenchServer } from "./support/berth-server.ts";
import { startConstantServer } from "./support/constant-server.ts";
import { describeEnvironment } from "./support/environment.ts";
import { median, medianAndRange, rounded, table } from "./support/figures.ts";
import { requestText, startLoadGenerator, type LoadGenerator } from "./support/load.ts";
import { processorMs, processorMsWithChildren } from "./support/processes.ts";
import { listSingleOffers, seedMachines, seedUsers, type BenchUser } from "./support/seed.ts";

const TEMPLATES_PER_USER = 10;

/** A request that is sent over and over, and the server that answers it. */
type Subject = {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly requests: readonly string[];
  readonly answerBytes: number;
  readonly rounds: Round[];
};

type Round = { readonly perSecond: number; readonly serverMicros: number; readonly postgresMicros: number };

export async function run(args: readonly string[]): Promise<void> {
  const options = readNumbers(args, { seconds: 5, rounds: 5, connections: 64, users: 64, "warm-up-ms": 1_500 });
  const server = await startBenchServer();
  const load = startLoadGenerator();
  try {
    console.log(describeEnvironment(server.dataDir));
    const users = await seedUsers(server.database, { count: options.users, creditDollars: 100 });
    await seedMachines(server.database, { hosts: options.users, gpusPerHost: 8 });
    const reads = await prepareReads(server, users);
    const controls = await Promise.all(reads.map(({ sample }) => startConstantServer(sample)));
    const subjects = reads.flatMap(({ name, requests, sample }, index): Subject[] => {
      const { port, pid } = controls[index] ?? { port: 0, pid: 0 };
      const answerBytes = Buffer.byteLength(sample);
      const control = (path: string) => [requestText({ method: "GET", path })];
      return [
        { name, port: server.port, pid: server.processId, requests, answerBytes, rounds: [] },
        { name: "  bare, constant text", port, pid, requests: control("/text"), answerBytes, rounds: [] },
        { name: "  bare, constant object", port, pid, requests: control("/object"), answerBytes, rounds: [] },
      ];
    });
    await measure(load, subjects, { ...options, postgresPid: server.postgresProcessId });
    for (const control of controls) control.stop();
    report(subjects, options);
  } finally {
    load.stop();
    await server.stop();
  }
}

/** Gives each user templates and an instance; the requests then go round among the users. */
async function prepareReads(server: BenchServer, users: readonly BenchUser[]) {
  const offers = await listSingleOffers(server.database);
  const instances: number[] = [];
  for (const [index, { secret }] of users.entries()) {
    for (let number = 0; number < TEMPLATES_PER_USER; number += 1) {
      await callApi(server, secret, { method: "POST", path: "/api/v0/template/", body: templateBody(index, number) });
    }
    const answer = await callApi(server, secret, {
      method: "PUT",
      path: `/api/v0/asks/${offers[index]}/`,
      body: { ...templateBody(index, 0), disk: 16 },
    });
    instances.push(Number(answer["new_contract"]));
  }
  const requestsFor = (path: (index: number) => string) =>
    users.map(({ secret }, index) => requestText({ method: "GET", path: path(index), secret }));
  const sampleOf = (path: string) => callApi(server, users[0]?.secret ?? "", { method: "GET", path });
  const show = (index: number) => `/api/v0/instances/${instances[index]}/`;
  return [
    {
      name: `templates (${TEMPLATES_PER_USER} own)`,
      requests: requestsFor(() => "/api/v0/template/"),
      sample: JSON.stringify(await sampleOf("/api/v0/template/")),
    },
    { name: "show instance", requests: requestsFor(show), sample: JSON.stringify(await sampleOf(show(0))) },
  ];
}

function templateBody(user: number, number: number) {
  return {
    name: `PyTorch ${number}`,
    image: "pytorch/pytorch",
    tag: "2.6.0-cuda12.6-cudnn9-runtime",
    env: `-p 8080:8080 -p 6006:6006 -e MODEL=llama-${user}-${number} -e HF_HOME=/workspace/hf`,
    onstart: "env >> /etc/environment; mkdir -p /workspace; nohup python -m http.server 8080 &",
    runtype: "args",
    desc: "PyTorch with CUDA, ready for training.",
    recommended_disk_space: 16,
  };
}

/** Interleaves the subjects round by round, so that a pause of the machine hits all of them alike. */
async function measure(
  load: LoadGenerator,
  subjects: readonly Subject[],
  options: {
    readonly seconds: number;
    readonly rounds: number;
    readonly connections: number;
    readonly "warm-up-ms": number;
    readonly postgresPid: number;
  },
): Promise<void> {
  const { connections } = options;
  const ask = async ({ port, requests, name }: Subject, repeatMs: number) => {
    const result = await load.run({ port, connections, requests, repeatMs, keepsAnswers: false });
    const successes = result.statuses.get(200) ?? 0;
    if (successes !== result.count) throw new Error(`${name}: ${result.count - successes} answers were not 200`);
    return result;
  };
  for (const subject of subjects) await ask(subject, options["warm-up-ms"]);
  for (let round = 0; round < options.rounds; round += 1) {
    for (const subject of subjects) {
      const before = [processorMs(subject.pid), processorMsWithChildren(options.postgresPid)] as const;
      const { count, elapsedMs } = await ask(subject, options.seconds * 1000);
      subject.rounds.push({
        perSecond: (count * 1000) / elapsedMs,
        serverMicros: ((processorMs(subject.pid) - before[0]) * 1000) / count,
        postgresMicros: ((processorMsWithChildren(options.postgresPid) - before[1]) * 1000) / count,
      });
    }
  }
}

function report(
  subjects: readonly Subject[],
  { rounds, seconds, connections }: { readonly rounds: number; readonly seconds: number; readonly connections: number },
): void {
  const rows = subjects.map((subject) => {
    const all = (pick: (round: Round) => number) => subject.rounds.map(pick);
    const requestRate = medianAndRange(all((round) => round.perSecond));
    const serverCost = medianAndRange(
      all((round) => round.serverMicros),
      1,
    );
    const postgresCost = rounded(median(all((round) => round.postgresMicros)), 1);
    return [subject.name, requestRate, serverCost, postgresCost, rounded(subject.answerBytes)];
  });
  console.log(
    `\nClosed loop, ${connections} keep-alive connections, ${rounds} interleaved rounds of ${seconds} s: median (range).\n`,
  );
  console.log(table([["", "requests/s", "server CPU µs", "PostgreSQL CPU µs", "body bytes"], ...rows]));
  console.log("");
  for (const [index, subject] of subjects.entries()) {
    if (subject.name.startsWith(" ")) continue;
    const controls = subjects.slice(index + 1, index + 3);
    for (const control of controls) {
      const ratio = (pick: (round: Round) => number) =>
        median(subject.rounds.map(pick)) / median(control.rounds.map(pick));
      const rate = ratio((round) => round.perSecond).toFixed(2);
      const cost = ratio((round) => round.serverMicros).toFixed(1);
      console.log(`${subject.name}: ${rate} of the rate and ${cost} times the CPU of "${control.name.trim()}"`);
    }
  }
}
