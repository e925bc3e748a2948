import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import type { AgentCredentialId, InstanceId, MachineId, ServerId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { MicroBatcher } from "../base/micro-batcher.ts";
import type { Encryption } from "../base/encryption.ts";
import type { Database } from "../db/connect.ts";
import { inSnapshot, withTransaction } from "../db/transaction.ts";
import {
  addressChallenger,
  admitAll,
  announceTunnel,
  confirmProof,
  findConnection,
  findConnectionNamed,
  AgentPasses,
  findCredentials,
  findCredentialsById,
  findNonsense,
  flagSenseless,
  hashToken,
  listRevoked,
  markDisconnected,
  recordClone,
  senselessFacts,
  type AgentPorts,
  type Arrival,
  type Departure,
  type LastWord,
  type ProofMaker,
  type PublishedAddresses,
} from "../domains/supply/hosts/for-assembly.ts";
import { lockMachines } from "../domains/supply/hosts/index.ts";
import {
  followDevices,
  loadDesiredSets,
  storeLastCounters,
  type ReportRecorder,
} from "../domains/rental/instances/for-assembly.ts";
import { refreshOffers } from "../domains/supply/market/index.ts";
import { findServerAddress, listKeptInstances, proveServer, readServerProof } from "../domains/servers/index.ts";
import { findTransferHost, loadOpenTasks, recordTaskMessage } from "../domains/rental/tasks/index.ts";
import { concludeBackups, type BackupEnds } from "../domains/rental/backups/index.ts";
import { concludeClones } from "../domains/supply/volumes/for-assembly.ts";
import type { AgentReleases } from "./agent-release/release.ts";
import { furnishSimulatedHosts } from "./simulated-market.ts";
import { WrongKeys } from "../http/wrong-keys.ts";

/** Machines whose news go into one transaction; the others follow in the next. */
const MACHINES_PER_BATCH = 250;

type Deps = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly leaseMs: number;
  /** The server that has the connections. */
  readonly serverId: () => ServerId | undefined;
  readonly proofs: ProofMaker;
  readonly random: (size: number) => Buffer;
  /** The operator lets this server call addresses of its own network. */
  readonly isPrivateAllowed: boolean;
  /** Addresses at which agents reach the servers of this database. */
  readonly addresses: PublishedAddresses;
  readonly secret: Buffer;
  readonly releases: Pick<AgentReleases, "offerFor">;
  readonly encryption: Encryption;
  readonly instanceKeySecret: (id: InstanceId) => string;
  readonly recorder: ReportRecorder;
  readonly backupEnds: BackupEnds;
  readonly measure: AgentPorts["measure"];
  /** The number of hosts that this server simulates; undefined when it offers real ones. */
  readonly simulatedHosts?: number | undefined;
};

/**
 * The gateway's ports to the rest of the server. Thousands of agents come back at once, so their requests are done in
 * batches.
 */
export function agentPorts(deps: Deps): AgentPorts {
  const { database, clock, log, leaseMs, serverId, proofs, encryption, recorder, simulatedHosts } = deps;
  const admit = inBatches((arrivals: readonly Arrival[]) =>
    withTransaction(database, clock, async (tx) => {
      const outcomes = await admitAll(tx, arrivals, { proofs, log, leaseMs, serverId: serverId() });
      const machineIds = outcomes.flatMap((outcome) => (outcome instanceof AppError ? [] : outcome.machineId));
      if (simulatedHosts !== undefined) await furnishSimulatedHosts(tx, inOrder(machineIds));
      await followDevices(tx, inOrder(machineIds));
      return outcomes;
    }),
  );
  const passes = agentPasses(deps);
  return {
    authenticate: slowedBy(new WrongKeys(clock), passes),
    serversFor: (credential) => passes.serversFor(credential),
    ...{ serverAddresses: deps.addresses.all, releaseFor: ({ id }, hello) => deps.releases.offerFor(id, hello) },
    register: async (arrival) => {
      const { credential, hello } = arrival;
      const nonsense = findNonsense(hello);
      if (nonsense !== undefined) {
        await withTransaction(database, clock, (tx) => flagSenseless(tx, credential, { hello, nonsense }));
        throw senselessFacts(nonsense);
      }
      const outcome = await admit(arrival);
      if (outcome instanceof AppError) throw outcome;
      return outcome;
    },
    challenge: addressChallenger(deps),
    recordClone: (machineId) => withTransaction(database, clock, (tx) => recordClone(tx, machineId, log)),
    listRevoked: (ids) => listRevoked(database.kysely, ids),
    confirmProof: (registration) => withTransaction(database, clock, (tx) => confirmProof(tx, registration)),
    loadDesired: inBatches((ids: readonly MachineId[]) => loadDesiredOf(deps, ids)),
    record: (machineId, received) => recorder.submit(machineId, received),
    loadTasks: inBatches((machineIds: readonly MachineId[]) =>
      loadOpenTasks(database.kysely, encryption, { machineIds, now: clock.now() }),
    ),
    recordTask: (machineId, message) =>
      withTransaction(database, clock, async (tx) => {
        const ended = await recordTaskMessage(tx, machineId, message);
        await concludeClones(tx, ended);
        await concludeBackups(tx, ended);
      }),
    storeCounters: inBatches((last: readonly LastWord[]) =>
      withTransaction(database, clock, async (tx) => {
        await lockMachines(tx, inOrder(last.map(({ machineId }) => machineId)));
        await storeLastCounters(tx, last);
        return last.map(() => undefined);
      }),
    ),
    findConnection: (machineId) => findConnection(database.kysely, machineId),
    findConnectionNamed: (name) => findConnectionNamed(database.kysely, name),
    announceTunnel: (machineId, request) =>
      announceTunnel(database.kysely, JSON.stringify({ machine_id: machineId, ...request })),
    ...{ serverId, measure: deps.measure },
    addressOfServer: (id) => findServerAddress(database.kysely, id),
    prove: (request) => proveServer(deps.secret, request, clock.now()),
    readProof: (shown) => readServerProof(deps.secret, shown, clock.now()),
    findTransferHost: (transferId, side) => findTransferHost(database.kysely, { transferId, side, now: clock.now() }),
    findOwnEnd: (transferId) => deps.backupEnds.find(transferId),
    disconnected: inBatches((departures: readonly (Departure & LastWord)[]) =>
      withTransaction(database, clock, async (tx) => {
        await lockMachines(tx, inOrder(departures.map(({ machineId }) => machineId)));
        const goneIds = await markDisconnected(tx, departures);
        await storeLastCounters(tx, departures);
        await refreshOffers(tx, goneIds);
        return departures.map(() => undefined);
      }),
    ),
  };
}

/** The desired sets of these machines, in their order; empty for a machine without any. */
async function loadDesiredOf({ database, clock, instanceKeySecret, encryption }: Deps, ids: readonly MachineId[]) {
  const now = clock.now();
  const { sets, keptInstances } = await inSnapshot(database, async (db) => ({
    sets: await loadDesiredSets(db, ids, instanceKeySecret, encryption, now),
    keptInstances: await listKeptInstances(db, now),
  }));
  return ids.map((id) => ({ ...(sets.get(id) ?? { instances: [], volumes: [] }), keptInstances }));
}

function agentPasses(deps: Deps): AgentPasses {
  const { kysely } = deps.database;
  return new AgentPasses({
    ...deps,
    findByToken: inBatches((tokens: readonly string[]) => findCredentials(kysely, tokens.map(hashToken))),
    findById: inBatches((ids: readonly AgentCredentialId[]) => findCredentialsById(kysely, ids)),
  });
}

function slowedBy(wrongTokens: WrongKeys, passes: AgentPasses): AgentPorts["authenticate"] {
  return (token, { challenge, address }) =>
    wrongTokens.find(token, address, async (shown, pause) => {
      await pause();
      return passes.authenticate(shown, challenge);
    });
}

function inBatches<Request, Response>(run: (batch: readonly Request[]) => Promise<readonly Response[]>) {
  const batcher = new MicroBatcher({ maxBatch: MACHINES_PER_BATCH, run });
  return (request: Request) => batcher.submit(request);
}

function inOrder(ids: readonly MachineId[]): readonly MachineId[] {
  return [...new Set(ids)].toSorted((a, b) => a - b);
}
