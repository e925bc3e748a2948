import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { checkBackupFolder } from "./backup-settings.ts";
import { ConfigError } from "./config-error.ts";
import { readConfig } from "./config.ts";
import { NO_PAYMENTS } from "../domains/money/payments/for-assembly.ts";
import { DEFAULT_LIMITS } from "../http/rate-limit.ts";

test("without settings everything has its documented default", () => {
  const config = readConfig({});
  assert.deepEqual(
    [config.host, config.port, config.databaseUrl, config.simulatedHosts, config.hasAgent, config.trustedProxies],
    ["127.0.0.1", 8080, undefined, undefined, true, { kind: "none" }],
  );
  assert.match(config.dataDir, /\/\.berth$/);
  assert.equal(config.limits, DEFAULT_LIMITS);
  assert.equal(config.leaseMs, 600_000);
  assert.deepEqual([config.noticeMs, config.minSliceMs], [30_000, 60_000]);
  assert.deepEqual(config.notifications, { mail: undefined, isPrivateAllowed: false });
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
    BERTH_SMTP_URL: "smtps://me:secret@mail.example.com",
    BERTH_SMS_URL: "https://sms.example.com/send",
    BERTH_SMS_TOKEN: "t",
    BERTH_MAIL_FROM: "Berth <berth@example.com>",
    BERTH_WEBHOOKS_ALLOW_PRIVATE: "1",
    BERTH_LOG_LEVEL: "debug",
    BERTH_DECLARE_GPUS: "RTX 4090:2",
    DATABASE_URL: "postgres://x",
    BERTH_RATE_LIMITS: '{"default":{"per_second":1,"burst":2},"api.instance.create":{"per_second":3,"burst":4}}',
  });
  assert.deepEqual(
    [config.port, config.host, config.dataDir, config.simulatedHosts, config.hasAgent, config.trustedProxies],
    [0, "::", "/data", 3, false, { kind: "hops", count: 1 }],
  );
  assert.equal(config.leaseMs, 60_000);
  assert.deepEqual([config.noticeMs, config.minSliceMs], [0, 86_400_000]);
  assert.deepEqual(config.smsProvider, { url: "https://sms.example.com/send", token: "t" });
  assert.deepEqual(config.notifications, {
    mail: { smtpUrl: "smtps://me:secret@mail.example.com", from: "Berth <berth@example.com>" },
    isPrivateAllowed: true,
  });
  assert.deepEqual([config.logLevel, config.declaredGpus, config.databaseUrl], ["debug", "RTX 4090:2", "postgres://x"]);
  assert.deepEqual(config.limits, {
    ...DEFAULT_LIMITS,
    default: { perSecond: 1, burst: 2 },
    operations: { ...DEFAULT_LIMITS.operations, "api.instance.create": { perSecond: 3, burst: 4 } },
  });
});

test("backups have a folder or are not made, and one that cannot be written to stops the start", async () => {
  assert.equal(readConfig({ BERTH_BACKUP_DAYS: "7" }).backups, undefined);
  const { backups } = readConfig({
    BERTH_BACKUP_DIR: "/srv/backups",
    BERTH_BACKUP_LIMIT_GB: "2",
    BERTH_BACKUP_DAYS: "7",
  });
  assert.deepEqual(backups, { directory: "/srv/backups", limitBytes: 2_000_000_000, keptDays: 7 });
  assert.equal(readConfig({ BERTH_BACKUP_DIR: "here" }).backups?.directory, path.resolve("here"));
  for (const [name, text] of [
    ["BERTH_BACKUP_LIMIT_GB", "0"],
    ["BERTH_BACKUP_LIMIT_GB", "1.5"],
    ["BERTH_BACKUP_DAYS", "3651"],
  ] as const) {
    assert.throws(() => readConfig({ [name]: text }), { name: "ConfigError", message: new RegExp(`^${name} must be`) });
  }
  const missing = { directory: "/proc/none", limitBytes: 1, keptDays: 1 };
  await assert.rejects(checkBackupFolder(missing), {
    name: "ConfigError",
    message: /^BERTH_BACKUP_DIR must be a folder/,
  });
  await checkBackupFolder(undefined);
});

test("cards are taken when both keys of Stripe are there, and one alone is a mistake", () => {
  const keys = { BERTH_STRIPE_SECRET_KEY: "sk_test_1", BERTH_STRIPE_WEBHOOK_SECRET: "whsec_1" };
  const { payments } = readConfig({
    ...keys,
    BERTH_PLATFORM_FEE_PERCENT: "2.5",
    BERTH_PUBLIC_URL: "https://gpu.example.com",
  });
  assert.deepEqual(payments, {
    stripe: { secretKey: "sk_test_1", webhookSecret: "whsec_1", apiUrl: "https://api.stripe.com" },
    publicUrl: "https://gpu.example.com",
    feePpm: 25_000,
    grantedAfterDays: undefined,
    cardHoldDays: 14,
  });
  assert.deepEqual(readConfig({}).payments, NO_PAYMENTS);
  for (const name of Object.keys(keys)) {
    const one = Object.fromEntries(Object.entries(keys).filter(([other]) => other !== name));
    assert.throws(
      () => readConfig(one),
      (error) => error instanceof ConfigError && error.message.includes(name) && !error.message.includes("_1"),
    );
  }
});

test("invoices say who issues them, a line of the address for each part, and the tax in the prices", () => {
  const { seller } = readConfig({
    BERTH_SELLER_NAME: "Nord GmbH",
    BERTH_SELLER_ADDRESS: "1 Mill Lane; 20095 Hamburg;",
    BERTH_SELLER_TAX_ID: "DE1",
    BERTH_TAX_PERCENT: "8.1",
    BERTH_SELLER_COUNTRY: "DE",
    BERTH_TAX_TABLE: '{"FR": {"percent": 20, "name": "TVA", "reverse_charge": true}, "*": {"percent": "0"}}',
    BERTH_INVOICE_PREFIX: "N-",
    BERTH_SELF_BILLING: "1",
  });
  assert.deepEqual(seller, {
    name: "Nord GmbH",
    address: ["1 Mill Lane", "20095 Hamburg"],
    taxId: "DE1",
    country: "DE",
    taxTable: new Map([
      ["FR", { ppm: 200_000, name: "TVA", note: "", isReverseCharged: true }],
      ["*", { ppm: 0, name: "Tax", note: "", isReverseCharged: false }],
    ]),
    taxPpm: 81_000,
    taxNote: "",
    isSelfBilling: true,
    numberPrefix: "N-",
  });
  const unnamed = {
    name: "Berth",
    address: [],
    taxId: "",
    country: "",
    taxTable: new Map(),
    taxPpm: 0,
    isSelfBilling: false,
    numberPrefix: "",
  };
  assert.deepEqual(readConfig({}).seller, { ...unnamed, taxNote: "No tax is charged." });
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
    ["BERTH_SELLER_COUNTRY", "Germany"],
    ["BERTH_TAX_TABLE", "19"],
    ["BERTH_TAX_TABLE", '{"Germany": {"percent": 19}}'],
    ["BERTH_TAX_TABLE", '{"DE": {"percent": "a lot"}}'],
    ["BERTH_TAX_TABLE", '{"DE": {"percent": 19, "reverse": true}}'],
    ["BERTH_MAIL_FROM", "berth@example.com"],
    ["BERTH_SMTP_URL", "https://mail.example.com"],
    ["BERTH_SMS_URL", "sms.example.com"],
    ["BERTH_SMS_TOKEN", "token without an address"],
    ["BERTH_LEASE_SECONDS", "19"],
    ["BERTH_LEASE_SECONDS", "86401"],
    ["BERTH_NOTICE_SECONDS", "-1"],
    ["BERTH_NOTICE_SECONDS", "3601"],
    ["BERTH_MIN_SLICE_SECONDS", "86401"],
    ["BERTH_MIN_SLICE_SECONDS", "1.5"],
    ["BERTH_STRIPE_SECRET_KEY", "pk_test_1"],
    ["BERTH_PUBLIC_URL", "gpu.example.com"],
    ["BERTH_PLATFORM_FEE_PERCENT", "50.0001"],
    ["BERTH_PLATFORM_FEE_PERCENT", "-1"],
    ["BERTH_PLATFORM_FEE_PERCENT", "2.00001"],
    ["BERTH_TAX_PERCENT", "51"],
    ["BERTH_TAX_PERCENT", "19 %"],
    ["BERTH_INVOICE_PREFIX", "n/"],
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

test("mail is either set up whole or not at all, and its password is not repeated", () => {
  const smtp = { BERTH_SMTP_URL: "smtp://me:hunter2@mail.example.com" };
  assert.throws(() => readConfig(smtp), { name: "ConfigError", message: /BERTH_MAIL_FROM must be an address/ });
  for (const from of ["nobody", "a@b.example\r\nBcc: c@d.example", "a@b.example c@d.example "]) {
    assert.throws(() => readConfig({ ...smtp, BERTH_MAIL_FROM: from }), /BERTH_MAIL_FROM/);
  }
  assert.throws(
    () => readConfig({ BERTH_SMTP_URL: "http://me:hunter2@mail.example.com", BERTH_MAIL_FROM: "a@b.example" }),
    (error: Error) => error.message.includes("BERTH_SMTP_URL") && !error.message.includes("hunter2"),
  );
});

test("an operator says when hosts are paid for granted credit, and for how long card payments wait", () => {
  const rules = (BERTH_GRANTED_EARNINGS: string, BERTH_CARD_HOLD_DAYS = "") =>
    readConfig({ BERTH_GRANTED_EARNINGS, BERTH_CARD_HOLD_DAYS }).payments;
  assert.equal(rules("held").grantedAfterDays, undefined);
  assert.equal(rules("released").grantedAfterDays, 0);
  assert.equal(rules("30 days").grantedAfterDays, 30);
  assert.equal(rules("held", "60").cardHoldDays, 60);
  for (const wrong of ["0 days", "30", "soon", "1000 days"]) {
    assert.throws(() => rules(wrong), /BERTH_GRANTED_EARNINGS must be held, released, or such as "30 days"/);
  }
  assert.throws(() => rules("held", "366"), /BERTH_CARD_HOLD_DAYS/);
});

test("addresses for agents are read as agents compare them, and what is none is refused by name", () => {
  const read = (text: string) => readConfig({ BERTH_AGENT_URLS: text }).agentAddresses;
  assert.deepEqual(read(""), []);
  assert.deepEqual(read("https://one.example/, http://10.0.0.7:8080,https://one.example"), [
    "https://one.example",
    "http://10.0.0.7:8080",
  ]);
  for (const text of [
    "one.example",
    "ws://one.example",
    "https://one.example,",
    "https://u:p@one.example",
    "https://a?b",
  ]) {
    assert.throws(() => read(text), /BERTH_AGENT_URLS must be up to 4 addresses/, text);
  }
});

test("a name of the server's own sets its addresses, and its settings say what they lack", () => {
  const { tls, payments, proxyHost } = readConfig({ BERTH_DOMAIN: "GPU.example.com", BERTH_HTTPS_PORT: "8443" });
  assert.deepEqual(
    [tls?.domain, tls?.url, payments.publicUrl, proxyHost],
    ["gpu.example.com", "https://gpu.example.com:8443", "https://gpu.example.com:8443", "gpu.example.com"],
  );
  assert.deepEqual(tls?.wanted, [{ name: "gpu.example.com", challenge: "http-01" }]);
  const domain = { BERTH_DOMAIN: "gpu.example.com" };
  for (const [settings, refused] of [
    [{ BERTH_DOMAIN: "192.0.2.7" }, /BERTH_DOMAIN must be a name/],
    [{ BERTH_DOMAIN: "localhost" }, /BERTH_DOMAIN must be a name/],
    [{ BERTH_ACME_EMAIL: "a@example.com" }, /BERTH_ACME_EMAIL needs BERTH_DOMAIN/],
    [{ ...domain, BERTH_HTTP_PORT: "off" }, /need BERTH_ACME_DNS_HOOK/],
    [{ ...domain, BERTH_ACME_URL: "off" }, /must name a certificate/],
    [{ ...domain, BERTH_ACME_URL: "http://acme.example.com" }, /BERTH_ACME_URL must be the https address/],
    [{ ...domain, BERTH_ACME_DNS_HOOK: "hook" }, /whole path/],
    [{ ...domain, BERTH_TLS_CERT_FILE: "/nowhere.pem" }, /one key for each/],
    [{ ...domain, BERTH_TLS_CERT_FILE: "/nowhere.pem", BERTH_TLS_KEY_FILE: "/nowhere.key" }, /no such file/],
    [{ ...domain, BERTH_ACME_EAB_KID: "kid" }, /belong together/],
    [{ ...domain, BERTH_PORTS_DOMAIN: "ports.example.net" }, /needs BERTH_ACME_DNS_HOOK/],
    [{ BERTH_PORTS_DOMAIN: "ports.example.net" }, /needs BERTH_DOMAIN/],
    [{ BERTH_PORTS_PORT: "8081" }, /needs BERTH_PORTS_DOMAIN/],
  ] as const) {
    assert.throws(() => readConfig(settings), refused);
  }
});
