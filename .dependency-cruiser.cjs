// Who may import whom. The rooms and the graph of domains are those of docs/ARCHITECTURE.md. Run by tools/boundaries.ts.

/** A domain may enter those named here, and no other. Keep it without cycles. */
const DOMAINS = {
  accounts: ["notices"],
  ledger: [],
  tasks: [],
  servers: [],
  notices: [],
  templates: ["accounts"],
  hosts: ["accounts", "notices"],
  billing: ["accounts", "hosts", "instances", "ledger", "metering", "notices", "payments", "serverless", "volumes"],
  volumes: ["accounts", "hosts", "ledger", "tasks"],
  market: ["hosts"],
  instances: ["market", "hosts", "templates", "volumes", "ledger", "accounts", "tasks", "notices"],
  contracts: ["hosts", "market", "instances", "ledger"],
  metering: ["contracts", "hosts", "instances", "volumes", "ledger", "notices"],
  payments: ["accounts", "contracts", "ledger", "metering", "notices"],
  hosting: ["accounts", "contracts", "hosts", "market", "volumes", "instances", "ledger", "notices", "payments"],
  serverless: ["accounts", "instances", "market", "notices", "templates"],
  waitlist: ["accounts", "market", "instances", "templates", "ledger"],
  teams: ["accounts", "ledger", "notices"],
  statistics: ["hosts", "market"],
  reconciliation: [
    "accounts",
    "arrears",
    "billing",
    "contracts",
    "hosts",
    "instances",
    "ledger",
    "market",
    "metering",
    "payments",
    "volumes",
  ],
  freezes: ["accounts", "hosts", "instances", "market", "notices", "payments", "serverless", "volumes", "waitlist"],
  arrears: ["instances", "ledger", "metering", "notices", "volumes"],
  caps: ["accounts", "instances", "ledger", "metering", "notices", "serverless"],
};

const TESTS = "(\\.test|\\.contract)\\.ts$|(^|/)test/|^(bench|tools)/";
const DOMAIN_FILE = "^server/src/domains/[^/]+/";
/** The files that hold pure rules. tools/boundaries.ts refuses the name of a file that is not there. */
const RULES = {
  accounts: ["keys", "permissions", "roles", "secret-name", "ssh-public-key", "user"],
  hosts: [
    "breaker",
    "coverage",
    "gpu-prices",
    "gpu-report",
    "listing",
    "machine",
    "presence",
    "reliability",
    "session-proof",
    "verification",
  ],
  servers: ["liveness", "secret-check", "settings"],
  volumes: ["clone", "listing", "mount-path", "volume-end"],
  market: [
    "allocation",
    "discount",
    "gpu-types",
    "machine-state",
    "min-bid",
    "offer-columns",
    "offer-fields",
    "offer-index",
    "offer-text",
    "ranking",
    "scratch",
    "search",
    "search-request",
    "selection",
    "slot-table",
    "standing",
    "text-dictionary",
  ],
  instances: [
    "copy-place",
    "counting",
    "interruption-view",
    "jupyter",
    "lifecycle",
    "observation",
    "page",
    "platform-env",
    "pricing",
    "rental-end",
    "start-outcome",
    "status",
    "terms-history",
  ],
  arrears: ["capped", "drops", "grace", "notices"],
  billing: [
    "account-documents/account-document",
    "account-documents/credit-note",
    "account-documents/receipt",
    "account-documents/statement",
    "charge-plan",
    "csv",
    "document",
    "document-lines",
    "document-usage",
    "movement-plan",
    "movements",
    "page-token",
    "party",
    "period",
    "quantity",
    "report",
    "sheet",
    "tax",
  ],
  contracts: ["deposit", "price-increase"],
  hosting: ["earnings", "listing", "maintenance"],
  reconciliation: ["counter-walk", "difference", "line-rules", "run-ends", "storage-walk"],
  metering: ["charges", "days", "host-credit", "period"],
  notices: ["event", "mail", "notice-types", "plan", "preferences", "retry", "webhook"],
  payments: ["autobilling", "cents", "payout", "payout-method"],
  serverless: ["openai-request", "parameters", "perf-window", "removal", "worker-report"],
  statistics: ["countries", "places", "sample", "span"],
  waitlist: ["standing-request"],
  tasks: ["task"],
  templates: [
    "content",
    "content-hash",
    "extra-filters",
    "fields",
    "image-reference",
    "launch",
    "option-string",
    "relaunch",
    "runtype",
    "shell-words",
  ],
};
const RULES_FILES = Object.entries(RULES).flatMap(([domain, names]) =>
  names.map((name) => `server/src/domains/${domain}/${name}.ts`),
);
const RULES_PATTERN = `^(${RULES_FILES.join("|").replaceAll(".", "\\.")})$`;
/** An import that vanishes when types are stripped ties nobody to anything at run time. */
const AT_RUN_TIME = { dependencyTypesNot: ["type-only"] };

/** `from` and `to` are patterns of paths; product code only, since tests may import anything. */
function forbid(name, comment, from, to, extra = {}) {
  const { except, ...restrictions } = extra;
  const pathNot = [TESTS, ...(except === undefined ? [] : [except])];
  return { name, comment, severity: "error", from: { path: from, pathNot }, to: { path: to, ...restrictions } };
}

const rooms = [
  forbid(
    "protocol-knows-nobody",
    "Both ends of the wire depend on protocol/, so it depends on none of our rooms.",
    "^protocol/",
    "^(tunnel|server|agent|sdk|worker|cli|console|test|bench|tools)/",
  ),
  forbid(
    "protocol-is-data",
    "protocol/ is messages and their checks: no I/O, no money, no database; typebox is all it needs.",
    "^protocol/",
    "",
    { dependencyTypes: ["core", "npm", "npm-dev", "npm-optional"], pathNot: "(^|/)typebox(/|$)" },
  ),
  forbid(
    "tunnel-knows-nobody",
    "Both ends of a tunnel carry its bytes with the same code, so it depends on none of our rooms.",
    "^tunnel/",
    "^(protocol|server|agent|sdk|worker|cli|console|test|bench|tools)/",
  ),
  forbid(
    "server-knows-the-wire-only",
    "The control plane talks to agents and clients over the wire, never by import.",
    "^server/",
    "^(agent|sdk|worker|cli|console)/",
  ),
  forbid(
    "agent-knows-the-wire-only",
    "The agent runs on other people's machines and decides nothing: it shares the wire with the server, no other code.",
    "^agent/",
    "^(server|sdk|worker|cli|console)/",
  ),
  forbid(
    "sdk-stands-alone",
    "The SDK is published: it may use its generated types and nothing else of ours.",
    "^sdk/",
    "^(protocol|tunnel|server|agent|worker|cli|console)/",
  ),
  forbid(
    "worker-stands-alone",
    "The worker is copied into renters' images: it needs Node and nothing else, of ours or anybody's.",
    "^worker/",
    ["^(protocol|tunnel|server|agent|sdk|cli|console)/", "(^|/)node_modules/"],
  ),
  forbid(
    "clients-use-the-sdk",
    "CLI and console are clients like any other: what the SDK cannot do, the API cannot do.",
    "^(cli|console)/",
    "^(protocol|tunnel|server|agent|worker)/",
  ),
  forbid(
    "clients-are-apart",
    "CLI and console share the SDK, not each other's code.",
    "^(cli|console)/",
    "^(?!$1/)(cli|console)/",
  ),
  forbid(
    "nobody-imports-tests",
    "Tests, benchmarks and tools look at the product; the product must not need them.",
    "^(protocol|tunnel|server|agent|sdk|worker|cli|console)/",
    TESTS,
  ),
  forbid(
    "one-docker-importer",
    "The engine's client stands behind engine.ts, so that the simulated engine can take its place; one file chooses.",
    "^agent/src/",
    "^agent/src/docker/",
    { except: "^agent/src/(docker/|real-host\\.ts|.+\\.test\\.ts)" },
  ),
];

const layers = [
  forbid("base-is-the-ground", "base/ is used by everything, so it uses nothing above it.", "^server/src/base/", [
    "^server/src/(?!base/)",
    "^protocol/",
  ]),
  forbid(
    "db-knows-base-only",
    "db/ connects, migrates and opens transactions; what is stored is the domains' affair.",
    "^server/src/db/",
    "^server/src/(?!db/|base/)",
  ),
  forbid(
    "http-knows-no-domain",
    "http/ holds what is true of every request; what one operation does is its domain's affair.",
    "^server/src/http/",
    "^server/src/(?!http/|db/|base/)",
  ),
  forbid(
    "proxy-knows-no-domain",
    "The proxy carries bytes from ports to tunnels; which ports there are, and who opens tunnels, it is told.",
    "^server/src/proxy/",
    "^server/src/(?!proxy/|base/)",
  ),
  forbid(
    "loop-driver-knows-no-domain",
    "The driver runs any loop; only register.ts lists them.",
    "^server/src/loops/",
    "^server/src/(?!loops/|db/|base/)",
    { except: "^server/src/loops/register\\.ts$" },
  ),
  forbid(
    "assembly-is-on-top",
    "app.ts, main.ts and process/ put domains together and run them; nothing below may reach up to them.",
    "^server/src/(base|db|http|proxy|domains)/|^server/src/loops/driver\\.ts$",
    "^server/src/([^/]+\\.ts$|loops/register\\.ts$|process/)",
  ),
  forbid(
    "sql-lives-in-stores",
    "Only stores and db/ speak SQL: the query builder and the driver are loaded nowhere else.",
    "^server/",
    "(^|/)node_modules/(kysely|pg)/",
    { ...AT_RUN_TIME, except: "^server/src/db/|store\\.ts$" },
  ),
  forbid(
    "http-stays-at-the-edge",
    "Services, stores and rules do not know that HTTP exists: routes unpack a request and call them.",
    DOMAIN_FILE,
    // Idempotency is part of a transaction rather than of HTTP.
    ["^server/src/http/(?!idempotency)", "(^|/)node_modules/(fastify|@fastify)/"],
    { ...AT_RUN_TIME, except: `${DOMAIN_FILE}(|.*[/-])(routes|route-ports|schema|index)\\.ts$` },
  ),
];

const domainFiles = [
  forbid(
    "domains-have-one-door",
    "A domain is entered through its index.ts only; what is not exported there is its own business.",
    "^server/src/domains/([^/]+)/",
    "^server/src/domains/(?!$1/)[^/]+/(?!index\\.ts$)",
  ),
  forbid(
    "assembly-uses-doors",
    "app.ts, main.ts and process/ see a domain's index, routes and loops, nothing behind them.",
    "^server/src/([^/]+\\.ts$|loops/|process/)",
    `${DOMAIN_FILE}(?!index\\.ts$|(|[^/]+-)routes\\.ts$|loops/)`,
  ),
  forbid(
    "stores-are-the-bottom",
    "A store holds SQL on its own domain's tables; it calls neither use cases nor views.",
    `${DOMAIN_FILE}(|[^/]+-)store\\.ts$`,
    `${DOMAIN_FILE}((|[^/]+-)(routes|service|views)\\.ts$|loops/)`,
    AT_RUN_TIME,
  ),
  forbid(
    "services-know-no-routes",
    "Use cases are called by routes, loops and other domains; they call none of these.",
    `${DOMAIN_FILE}(|[^/]+-)(service|views)\\.ts$`,
    `${DOMAIN_FILE}((|[^/]+-)routes\\.ts$|loops/)`,
  ),
  forbid(
    "rules-are-pure",
    "A rules file decides from data it is given, so that it can be tested and read alone: base, protocol, types and " +
      "other rules are all that it may import.",
    RULES_PATTERN,
    "",
    {
      ...AT_RUN_TIME,
      pathNot: [
        RULES_PATTERN,
        "^server/src/base/",
        "^protocol/",
        "node_modules/typebox/",
        "^(node:)?(crypto|zlib|util)$",
      ],
    },
  ),
  ...Object.entries(DOMAINS).map(([domain, others]) =>
    forbid(
      `${domain}-knows`,
      `${domain} may know ${others.join(", ") || "no other domain"}: the graph of domains has no cycles and is in ` +
        "docs/ARCHITECTURE.md.",
      `^server/src/domains/${domain}/`,
      `^server/src/domains/(?!(${[domain, ...others].join("|")})/)`,
    ),
  ),
  {
    name: "domains-are-listed",
    comment: "A new domain is entered in DOMAINS of .dependency-cruiser.cjs with those it may know.",
    severity: "error",
    from: { path: `^server/src/domains/(?!(${Object.keys(DOMAINS).join("|")})/)`, pathNot: TESTS },
    to: {},
  },
];

const general = [
  forbid("no-cycles", "Modules that import each other can only be read and tested together.", "", "", {
    circular: true,
    viaOnly: AT_RUN_TIME,
  }),
  {
    name: "resolvable",
    comment: "The import leads nowhere.",
    severity: "error",
    from: {},
    to: { couldNotResolve: true },
  },
  forbid(
    "dependencies-are-declared",
    "Product code runs without development dependencies, and only on packages that package.json names.",
    "^(protocol|tunnel|server|agent|sdk|worker|cli|console)/",
    "",
    { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["type-only"] },
  ),
];

module.exports = {
  rulesFiles: RULES_FILES,
  forbidden: [...rooms, ...layers, ...domainFiles, ...general],
  options: {
    // TypeScript 7 has no programming interface: with the default parser nothing would be read, and nothing reported.
    parser: "swc",
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)node_modules/\\.|^\\.berth/" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "types", "default"] },
  },
};
