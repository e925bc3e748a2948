import { invalid } from "../../../../base/errors.ts";

/** States of an endpoint: the autoscaler acts, pauses, or has all workers stopped. */
const ENDPOINT_STATES = ["active", "suspended", "stopped"] as const;
type EndpointState = (typeof ENDPOINT_STATES)[number];

/** Scaling parameters of an endpoint group. Loads are in units of work per second, times in seconds. */
export type Parameters = {
  readonly name: string;
  readonly state: EndpointState;
  readonly minLoad: number;
  readonly minColdLoad: number;
  readonly targetUtil: number;
  readonly coldMult: number;
  /** As it was sent; `maxWorkers` bounds it where it counts. */
  readonly coldWorkers: number;
  readonly maxWorkers: number;
  /** Without a value the default of the router counts. */
  readonly maxQueueTimeS: number | undefined;
  readonly targetQueueTimeS: number | undefined;
  /** Negative: never scale to zero; 0: at any time; undefined: no timeout of its own. */
  readonly inactivityTimeoutS: number | undefined;
};

/** The fields of a request as they were sent. */
export type ParameterRequest = {
  readonly endpoint_name?: string;
  readonly endpoint_state?: string;
  readonly min_load?: number;
  readonly min_cold_load?: number;
  readonly target_util?: number;
  readonly cold_mult?: number;
  readonly cold_workers?: number;
  /** Another name of `cold_workers` in the published guides. */
  readonly min_workers?: number;
  readonly max_workers?: number;
  readonly max_queue_time?: number;
  readonly target_queue_time?: number;
  readonly inactivity_timeout?: number;
};

/** Published defaults of an endpoint's parameters. */
export const DEFAULT_PARAMETERS = {
  name: "default-endpoint",
  state: "active",
  minLoad: 10,
  minColdLoad: 0,
  targetUtil: 0.9,
  coldMult: 2.5,
  coldWorkers: 5,
  maxWorkers: 20,
  maxQueueTimeS: undefined,
  targetQueueTimeS: undefined,
  inactivityTimeoutS: undefined,
} as const satisfies Parameters;

const NAME_LENGTH_MAX = 255;
/** Characters that a numeric parameter may have; the published limit. */
const NUMBER_TEXT_LENGTH_MAX = 10;
const INTEGER_MAX = 2_147_483_647;

/** The parameters of a new group; throws `invalid` naming the field that is out of range. */
export function planParameters(request: ParameterRequest): Parameters {
  return changeParameters(DEFAULT_PARAMETERS, request);
}

/**
 * The current parameters with the sent ones in their place; throws `invalid` naming the field that is out of range.
 * Cold workers may be more than workers in all: published clients send their default of 5 with every cap.
 */
export function changeParameters(current: Parameters, request: ParameterRequest): Parameters {
  return {
    name: readName(request.endpoint_name) ?? current.name,
    state: readState(request.endpoint_state) ?? current.state,
    minLoad: readNumber("min_load", request.min_load, NOT_NEGATIVE) ?? current.minLoad,
    minColdLoad: readNumber("min_cold_load", request.min_cold_load, NOT_NEGATIVE) ?? current.minColdLoad,
    targetUtil: readNumber("target_util", request.target_util, FRACTION) ?? current.targetUtil,
    coldMult: readNumber("cold_mult", request.cold_mult, POSITIVE) ?? current.coldMult,
    coldWorkers: readColdWorkers(request) ?? current.coldWorkers,
    maxWorkers: readCount("max_workers", request.max_workers, 1) ?? current.maxWorkers,
    maxQueueTimeS: readNumber("max_queue_time", request.max_queue_time, NOT_NEGATIVE) ?? current.maxQueueTimeS,
    targetQueueTimeS:
      readNumber("target_queue_time", request.target_queue_time, NOT_NEGATIVE) ?? current.targetQueueTimeS,
    inactivityTimeoutS: readNumber("inactivity_timeout", request.inactivity_timeout, ANY) ?? current.inactivityTimeoutS,
  };
}

type Range = { readonly holds: (value: number) => boolean; readonly words: string };
const ANY: Range = { holds: () => true, words: "a finite number" };
export const NOT_NEGATIVE: Range = { holds: (value) => value >= 0, words: "0 or more" };
export const POSITIVE: Range = { holds: (value) => value > 0, words: "more than 0" };
export const FRACTION: Range = { holds: (value) => value > 0 && value <= 1, words: "more than 0 and at most 1" };

export function readNumber(field: string, value: number | undefined, range: Range): number | undefined {
  if (value === undefined) return undefined;
  if (!Number.isFinite(value) || !range.holds(value)) throw invalid(field, `${field} must be ${range.words}`);
  if (String(value).length > NUMBER_TEXT_LENGTH_MAX) {
    throw invalid(field, `${field} must have at most ${NUMBER_TEXT_LENGTH_MAX} characters`);
  }
  return value === 0 ? 0 : value; // JSON writes minus zero as 0, but it would not compare equal.
}

export function readCount(field: string, value: number | undefined, min: number): number | undefined {
  if (value === undefined) return undefined;
  const isCount = Number.isInteger(value) && value >= min && value <= INTEGER_MAX;
  if (!isCount) throw invalid(field, `${field} must be a whole number from ${min} to ${INTEGER_MAX}`);
  return value === 0 ? 0 : value;
}

function readColdWorkers(request: ParameterRequest): number | undefined {
  const { cold_workers: cold, min_workers: min } = request;
  if (cold !== undefined && min !== undefined && cold !== min) {
    throw invalid("min_workers", "min_workers is another name of cold_workers and must not differ from it");
  }
  return readCount("cold_workers", cold, 0) ?? readCount("min_workers", min, 0);
}

/** Any text of one line: published clients send names with blanks. */
function readName(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const field = "endpoint_name";
  const isText = name.trim() !== "" && name.length <= NAME_LENGTH_MAX && name.isWellFormed();
  if (!isText || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) {
    throw invalid(field, `${field} must have 1 to ${NAME_LENGTH_MAX} characters, without control characters`);
  }
  return name;
}

function readState(state: string | undefined): EndpointState | undefined {
  if (state === undefined) return undefined;
  const known = ENDPOINT_STATES.find((candidate) => candidate === state);
  if (known === undefined) {
    throw invalid("endpoint_state", `endpoint_state must be one of ${ENDPOINT_STATES.join(", ")}`);
  }
  return known;
}
