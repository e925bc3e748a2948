import {
  asId,
  type EndpointGroupId,
  type InstanceId,
  type MachineId,
  type OfferId,
  type WorkerGroupId,
} from "../../../server/src/base/ids.ts";
import { nanos } from "../../../server/src/base/money.ts";
import type {
  GroupView,
  LoadSample,
  OfferView,
  Situation,
  WorkerView,
} from "../../../server/src/domains/serverless/autoscaling/rules/types.ts";
import { DEFAULT_PARAMETERS } from "../../../server/src/domains/serverless/endpoints/rules/parameters.ts";

export const NOW_MS = 1_800_000_000_000;
export const DOLLAR = nanos(1_000_000_000n);

export function aWorker(id: number, overrides: Partial<WorkerView> = {}): WorkerView {
  return {
    id: asId<InstanceId>(id),
    groupId: asId<WorkerGroupId>(1),
    machineId: asId<MachineId>(id),
    phase: "ready",
    phaseSinceMs: NOW_MS - 3_600_000,
    rentedAtMs: NOW_MS - 7_200_000,
    claimedPerf: 100,
    observedPerf: undefined,
    dlperf: 50,
    priceNanosPerHour: DOLLAR,
    coldPriceNanosPerHour: nanos(10_000_000n),
    load: 0,
    requestCount: 0,
    activeAtMs: undefined,
    warmStartMs: 20_000,
    draining: undefined,
    isOutdated: false,
    failure: "",
    ...overrides,
  };
}

export function aGroup(id: number, overrides: Partial<GroupView> = {}): GroupView {
  return {
    id: asId<WorkerGroupId>(id),
    coldWorkers: 0,
    maxWorkers: 20,
    testWorkers: 3,
    maxNanosPerHour: undefined,
    isUpdating: false,
    failureCount: 0,
    resumesAtMs: undefined,
    firstStartMs: 120_000,
    warmStartMs: 20_000,
    ...overrides,
  };
}

export function anOffer(id: number, overrides: Partial<OfferView> = {}): OfferView {
  return {
    offerId: asId<OfferId>(id),
    groupId: asId<WorkerGroupId>(1),
    machineId: asId<MachineId>(10_000 + id),
    dlperf: 50,
    priceNanosPerHour: DOLLAR,
    coldPriceNanosPerHour: nanos(10_000_000n),
    reliability: 0.99,
    ...overrides,
  };
}

/** An equal load in each of the last seconds, as ten requests each. */
export function steadyLoad(load: number, { seconds = 3_600 }: { readonly seconds?: number } = {}): LoadSample[] {
  return Array.from({ length: seconds }, (_, index) => ({
    secondMs: NOW_MS - (seconds - 1 - index) * 1_000,
    requestCount: 10,
    load,
    waitedCount: 0,
    waitMsMax: 0,
  }));
}

/** An endpoint with one group, and with no minimums, traffic or workers unless given. */
export function aSituation({
  parameters,
  ...overrides
}: Partial<Omit<Situation, "parameters">> & {
  readonly parameters?: Partial<Situation["parameters"]>;
} = {}): Situation {
  return {
    nowMs: NOW_MS,
    endpointId: asId<EndpointGroupId>(1),
    groups: [aGroup(1)],
    workers: [],
    offers: Array.from({ length: 30 }, (_, index) => anOffer(index + 1)),
    samples: [],
    queue: { requestCount: 0, load: 0, oldestMs: undefined },
    spendingStop: undefined,
    createdAtMs: NOW_MS - 86_400_000,
    ...overrides,
    parameters: { ...DEFAULT_PARAMETERS, minLoad: 0, coldWorkers: 0, ...parameters },
  };
}
