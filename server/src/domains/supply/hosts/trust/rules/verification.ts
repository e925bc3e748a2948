/** Requirements for a machine that is shown as verified (docs/hosts.md, Verification). */
const CUDA_MIN = 12;
const RELIABILITY_PPM_MIN = 900_000;
const PORTS_PER_GPU_MIN = 3;
const GPU_MEMORY_MB_MIN = 7_000;
const MB_PER_GIB = 1024;
const MBPS_PER_GIB = 2.6;
const MBPS_MIN = 100;
const MBPS_MAX = 500;
/** A verified machine keeps its verification while values that vary by themselves stay above these lower limits. */
const RELIABILITY_PPM_KEPT = 850_000;
const MBPS_KEPT = 0.8;

export type Verification = "verified" | "unverified" | "deverified";

export type VerificationFacts = {
  /** False for a simulated machine, and for one with declared GPUs. */
  readonly isReal: boolean;
  readonly hasGpus: boolean;
  readonly gpuCount: number;
  /** Memory of its smallest GPU. */
  readonly gpuMemoryMb: number;
  readonly totalMemoryMb: number;
  readonly cudaMax: number;
  readonly portCount: number;
  readonly inetUpMbps: number;
  readonly inetDownMbps: number;
  readonly reliabilityPpm: number;
  readonly hasStarted: boolean;
  /**
   * True when the server has measured its uplink; the other flag says that the measurements contradict the declared
   * speed by far.
   */
  readonly isUplinkMeasured: boolean;
  readonly hasSlowUplink: boolean;
};

export type Check = {
  readonly name: string;
  readonly value: number | boolean;
  readonly needed: number | boolean;
  readonly isPassed: boolean;
  /** Good enough for a machine that is already verified. */
  readonly isKept: boolean;
  /** One sentence for the host. */
  readonly text: string;
};

/** All requirements, in the order in which a host reads them. */
export function checkMachine(facts: VerificationFacts): readonly Check[] {
  const always = [
    realCheck(facts),
    startCheck(facts),
    reliabilityCheck(facts),
    portCheck(facts),
    ...speedChecks(facts),
    measuredCheck(facts),
    contradictionCheck(facts),
  ];
  return facts.hasGpus ? [...always, cudaCheck(facts), memoryCheck(facts)] : always;
}

/**
 * The verification that the rule gives a machine. A verification that was lost has a state of its own, since the loss
 * is temporary.
 */
export function decideVerification(current: Verification, checks: readonly Check[]): Verification {
  if (checks.every((check) => check.isPassed)) return "verified";
  if (current !== "verified") return current;
  return checks.every((check) => check.isKept) ? "verified" : "deverified";
}

/** The speed that each direction must have: enough to fill the memory of the GPUs in some hours. */
export function neededMbps({ totalMemoryMb }: Pick<VerificationFacts, "totalMemoryMb">): number {
  const wanted = (MBPS_PER_GIB * totalMemoryMb) / MB_PER_GIB;
  return Math.round(Math.min(MBPS_MAX, Math.max(MBPS_MIN, wanted)));
}

function realCheck({ isReal }: VerificationFacts): Check {
  const text = isReal ? "Machine and GPUs are real." : "A simulated machine, or declared GPUs, are never verified.";
  return { name: "is_real", value: isReal, needed: true, isPassed: isReal, isKept: isReal, text };
}

function startCheck({ hasStarted }: VerificationFacts): Check {
  const text = hasStarted
    ? "An instance has started here."
    : "No instance has ever started here. Rent your own machine once to test it, or wait for a renter.";
  return { name: "has_started", value: hasStarted, needed: true, isPassed: hasStarted, isKept: hasStarted, text };
}

function reliabilityCheck({ reliabilityPpm }: VerificationFacts): Check {
  const text = `Reliability is ${ratio(reliabilityPpm)}; ${ratio(RELIABILITY_PPM_MIN)} is needed.`;
  return {
    ...atLeast("reliability", { value: reliabilityPpm / 1e6, needed: RELIABILITY_PPM_MIN / 1e6, text }),
    isKept: reliabilityPpm >= RELIABILITY_PPM_KEPT,
  };
}

function portCheck({ portCount, gpuCount }: VerificationFacts): Check {
  const needed = PORTS_PER_GPU_MIN * Math.max(1, gpuCount);
  const text = `${portCount} ports are open to renters; ${needed} are needed, three for each GPU.`;
  return atLeast("direct_port_count", { value: portCount, needed, text });
}

function speedChecks(facts: VerificationFacts): readonly Check[] {
  const needed = neededMbps(facts);
  return (["up", "down"] as const).map((direction) => {
    const value = direction === "up" ? facts.inetUpMbps : facts.inetDownMbps;
    const text = `The line carries ${Math.round(value)} Mbit/s ${direction}; ${needed} are needed.`;
    return { ...atLeast(`inet_${direction}`, { value, needed, text }), isKept: value >= needed * MBPS_KEPT };
  });
}

/** A verified machine stays so without a measurement: its agent may be of a version that cannot be measured. */
function measuredCheck({ isUplinkMeasured }: VerificationFacts): Check {
  const text = isUplinkMeasured
    ? "The server has measured the uplink."
    : "The server has not measured the uplink yet. It does so within a day, when the agent is new enough and not simulated.";
  return {
    name: "line_measured",
    value: isUplinkMeasured,
    needed: true,
    isPassed: isUplinkMeasured,
    isKept: true,
    text,
  };
}

function contradictionCheck({ hasSlowUplink }: VerificationFacts): Check {
  const text = hasSlowUplink
    ? "The server's measurements contradict the declared uplink: see the flag slow_line. Declare the true speed, and ask an administrator to clear the flag."
    : "The server's measurements do not contradict the declared uplink.";
  return {
    name: "line_credible",
    value: !hasSlowUplink,
    needed: true,
    isPassed: !hasSlowUplink,
    isKept: !hasSlowUplink,
    text,
  };
}

function cudaCheck({ cudaMax }: VerificationFacts): Check {
  const text = `The driver supports CUDA ${cudaMax}; ${CUDA_MIN} is needed.`;
  return atLeast("cuda_max_good", { value: cudaMax, needed: CUDA_MIN, text });
}

function memoryCheck({ gpuMemoryMb }: VerificationFacts): Check {
  const text = `The smallest GPU has ${gpuMemoryMb} MB; ${GPU_MEMORY_MB_MIN} are needed.`;
  return atLeast("gpu_ram", { value: gpuMemoryMb, needed: GPU_MEMORY_MB_MIN, text });
}

type Bound = { readonly value: number; readonly needed: number; readonly text: string };

function atLeast(name: string, { value, needed, text }: Bound): Check {
  const isPassed = value >= needed;
  return { name, value, needed, isPassed, isKept: isPassed, text };
}

function ratio(ppm: number): string {
  return (ppm / 1e6).toFixed(4);
}
