import { DEFAULT_LIMITS, type Limit, type Limits } from "../http/rate-limit.ts";
import { ConfigError } from "./config-error.ts";

/**
 * Limits such as `{"default": {"per_second": 20, "burst": 60}, "api.instance.create": {…}}`; operations that it does
 * not name keep their defaults.
 */
export function readLimits(text: string | undefined): Limits {
  if (text === undefined || text === "") return DEFAULT_LIMITS;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new ConfigError("BERTH_RATE_LIMITS must be a JSON object of limits");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw new ConfigError("BERTH_RATE_LIMITS must be a JSON object");
  const named = new Map(Object.entries(parsed).map(([name, value]) => [name, readLimit(name, value)]));
  const take = (name: "default" | "keys" | "money") => {
    const limit = named.get(name) ?? DEFAULT_LIMITS[name];
    named.delete(name);
    return limit;
  };
  const [byDefault, keys, money] = [take("default"), take("keys"), take("money")];
  const operations = { ...DEFAULT_LIMITS.operations, ...Object.fromEntries(named) };
  return { default: byDefault, keys, money, operations };
}

function readLimit(name: string, value: unknown): Limit {
  const { per_second: perSecond, burst } = (value ?? {}) as { per_second?: unknown; burst?: unknown };
  const isPositive = (number: unknown): number is number => typeof number === "number" && number > 0;
  if (!isPositive(perSecond) || !isPositive(burst)) {
    throw new ConfigError(`BERTH_RATE_LIMITS: ${name} needs a positive per_second and burst`);
  }
  return { perSecond, burst };
}
