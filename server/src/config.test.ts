import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigError, readConfig } from "./config.ts";
import { DEFAULT_LIMITS } from "./http/rate-limit.ts";

test("without settings everything has its documented default", () => {
  const config = readConfig({});
  assert.deepEqual(
    [config.host, config.port, config.databaseUrl, config.simulatedHosts, config.hasAgent, config.isProxyTrusted],
    ["127.0.0.1", 8080, undefined, undefined, true, false],
  );
  assert.match(config.dataDir, /\/\.berth$/);
  assert.equal(config.limits, DEFAULT_LIMITS);
  assert.equal(config.leaseMs, 600_000);
  assert.deepEqual([config.noticeMs, config.minSliceMs], [30_000, 60_000]);
  assert.deepEqual(readConfig({ BERTH_PORT: "", BERTH_HOST: "", BERTH_RATE_LIMITS: "", BERTH_SIMULATE: "" }), config);
});

test("each setting is read", () => {
  const config = readConfig({
    BERTH_PORT: "0",
    BERTH_HOST: "::",
    BERTH_DATA_DIR: "/data",
    BERTH_SIMULATE: "3",
    BERTH_NO_AGENT: "1",
    BERTH_TRUST_PROXY: "1",
    BERTH_LEASE_SECONDS: "60",
    BERTH_NOTICE_SECONDS: "0",
    BERTH_MIN_SLICE_SECONDS: "86400",
    BERTH_LOG_LEVEL: "debug",
    BERTH_DECLARE_GPUS: "RTX 4090:2",
    DATABASE_URL: "postgres://x",
    BERTH_RATE_LIMITS: '{"default":{"per_second":1,"burst":2},"api.instance.create":{"per_second":3,"burst":4}}',
  });
  assert.deepEqual(
    [config.port, config.host, config.dataDir, config.simulatedHosts, config.hasAgent, config.isProxyTrusted],
    [0, "::", "/data", 3, false, true],
  );
  assert.equal(config.leaseMs, 60_000);
  assert.deepEqual([config.noticeMs, config.minSliceMs], [0, 86_400_000]);
  assert.deepEqual([config.logLevel, config.declaredGpus, config.databaseUrl], ["debug", "RTX 4090:2", "postgres://x"]);
  assert.deepEqual(config.limits, {
    ...DEFAULT_LIMITS,
    default: { perSecond: 1, burst: 2 },
    operations: { ...DEFAULT_LIMITS.operations, "api.instance.create": { perSecond: 3, burst: 4 } },
  });
});

test("a setting that cannot be used is named with what it should be", () => {
  const wrong = [
    ["BERTH_PORT", "65536"],
    ["BERTH_PORT", "-1"],
    ["BERTH_PORT", "80a"],
    ["BERTH_PORT", "1e3"],
    ["BERTH_SIMULATE", "many"],
    ["BERTH_SIMULATE", "100001"],
    ["BERTH_LOG_LEVEL", "loud"],
    ["BERTH_LEASE_SECONDS", "19"],
    ["BERTH_LEASE_SECONDS", "86401"],
    ["BERTH_NOTICE_SECONDS", "-1"],
    ["BERTH_NOTICE_SECONDS", "3601"],
    ["BERTH_MIN_SLICE_SECONDS", "86401"],
    ["BERTH_MIN_SLICE_SECONDS", "1.5"],
    ["BERTH_RATE_LIMITS", "{"],
    ["BERTH_RATE_LIMITS", "7"],
    ["BERTH_RATE_LIMITS", "null"],
    ["BERTH_RATE_LIMITS", "[]"],
    ["BERTH_RATE_LIMITS", '{"default":null}'],
    ["BERTH_RATE_LIMITS", '{"default":{"per_second":0,"burst":1}}'],
    ["BERTH_RATE_LIMITS", '{"default":{"per_second":1}}'],
  ] as const;
  for (const [name, value] of wrong) {
    assert.throws(
      () => readConfig({ [name]: value }),
      (error) => error instanceof ConfigError && error.message.includes(name),
      `${name}=${value}`,
    );
  }
});

test("the ports of the proxy are a range, or none", () => {
  assert.deepEqual(readConfig({}).proxyPorts, { first: 10_000, last: 19_999 });
  assert.deepEqual(readConfig({ BERTH_PROXY_PORTS: "5000-5009" }).proxyPorts, { first: 5000, last: 5009 });
  assert.equal(readConfig({ BERTH_PROXY_PORTS: "off" }).proxyPorts, undefined);
  assert.equal(readConfig({ BERTH_PROXY_HOST: "proxy.example" }).proxyHost, "proxy.example");
  for (const text of ["5000", "5009-5000", "0-9", "1-99999", "a-b", "1-2-3"]) {
    assert.throws(() => readConfig({ BERTH_PROXY_PORTS: text }), /BERTH_PROXY_PORTS must be two ports/);
  }
});
