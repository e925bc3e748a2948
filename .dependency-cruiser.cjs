// Who may import whom. The rooms and the graph of domains are those of docs/ARCHITECTURE.md. Run by tools/boundaries.ts.

/**
 * The domains by their folders under server/src/domains, wing by wing, and those that each may enter: no other. The graph
 * has no cycles.
 */
const DOMAINS = {
  live: [],
  names: [],
  notifications: [],
  servers: [],
  unbuilt: [],
  "people/accounts": ["notifications"],
  "people/clouds": ["people/accounts"],
  "people/schedules": ["people/accounts", "notifications"],
  "people/sign-in": ["people/accounts", "notifications"],
  "people/teams": ["people/accounts", "money/ledger", "notifications"],
  "people/freezes": [
    "people/accounts",
    "supply/hosts",
    "supply/market",
    "supply/volumes",
    "rental/instances",
    "rental/queue",
    "money/payments",
    "serverless",
    "notifications",
  ],
  "supply/hosts": ["people/accounts", "notifications"],
  "supply/benchmarks": ["supply/hosts"],
  "supply/market": ["supply/hosts"],
  "supply/volumes": ["people/accounts", "supply/hosts", "rental/tasks", "money/ledger"],
  "supply/listings": [
    "people/accounts",
    "supply/hosts",
    "supply/market",
    "supply/volumes",
    "rental/instances",
    "money/ledger",
    "money/deposits",
    "money/payments",
    "notifications",
  ],
  "supply/measurements": ["supply/hosts", "rental/instances"],
  "supply/statistics": ["supply/hosts", "supply/market"],
  "rental/tasks": [],
  "rental/templates": ["people/accounts"],
  "rental/instances": [
    "people/accounts",
    "people/clouds",
    "supply/hosts",
    "supply/market",
    "supply/volumes",
    "rental/tasks",
    "rental/templates",
    "money/ledger",
    "money/tabs",
    "notifications",
  ],
  "rental/backups": ["supply/hosts", "supply/volumes", "rental/instances", "rental/tasks"],
  "rental/queue": ["people/accounts", "supply/market", "rental/instances", "rental/templates", "money/ledger"],
  "money/ledger": [],
  "money/tabs": ["money/ledger"],
  "money/deposits": ["supply/hosts", "supply/market", "rental/instances", "money/ledger", "money/tabs"],
  "money/charging": [
    "supply/hosts",
    "supply/volumes",
    "rental/instances",
    "money/ledger",
    "money/tabs",
    "money/deposits",
    "notifications",
  ],
  "money/payments": ["people/accounts", "money/ledger", "money/deposits", "money/charging", "notifications"],
  "money/limits": [
    "people/accounts",
    "supply/volumes",
    "rental/instances",
    "money/ledger",
    "money/tabs",
    "money/charging",
    "serverless",
    "notifications",
  ],
  "money/invoices": [
    "people/accounts",
    "supply/hosts",
    "supply/volumes",
    "rental/instances",
    "money/ledger",
    "money/charging",
    "money/payments",
    "serverless",
    "notifications",
  ],
  "money/audit": [
    "people/accounts",
    "supply/hosts",
    "supply/market",
    "supply/volumes",
    "rental/instances",
    "money/ledger",
    "money/deposits",
    "money/charging",
    "money/payments",
    "money/limits",
    "money/invoices",
  ],
  administration: [
    "people/accounts",
    "supply/hosts",
    "supply/market",
    "supply/volumes",
    "supply/listings",
    "rental/instances",
    "rental/queue",
    "money/ledger",
    "money/charging",
    "money/payments",
    "money/invoices",
    "money/audit",
    "serverless",
    "notifications",
  ],
  serverless: [
    "people/accounts",
    "supply/benchmarks",
    "supply/market",
    "rental/instances",
    "rental/templates",
    "notifications",
  ],
};

const TESTS = "(\\.test|\\.contract)\\.ts$|(^|/)test/|^(bench|tools)/";
/** The path of a domain's folder; its first group is the domain. */
const DOMAIN = `^server/src/domains/(${Object.keys(DOMAINS).join("|")})/`;
/** A file of a domain that is none of its doors. */
const NO_DOOR = "(?!(index|for-[a-z-]+)\\.ts$)";
/** Pure rules lie in folders called `rules`. */
const RULES = "^server/src/domains/.+/rules/[^/]+\\.ts$";
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
    "pieces-of-the-console-are-plain",
    "console/src/ui and charts know neither the router nor the API, so that each piece can be read and used alone.",
    "^console/src/(ui|charts|text)/",
    [
      "^console/src/(api|pages|parts|forms)/",
      "^console/src/router\\.tsx$",
      "^sdk/",
      "/@tanstack/react-(router|query)/",
    ],
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
    "assembly-is-on-top",
    "main.ts and assembly/ put domains together and run them; nothing below may reach up to them.",
    "^server/src/(base|db|http|proxy|domains)/",
    "^server/src/([^/]+\\.ts$|assembly/)",
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
    DOMAIN,
    ["^server/src/http/", "(^|/)node_modules/(fastify|@fastify)/"],
    { ...AT_RUN_TIME, except: "^server/src/domains/.+[/-](routes|route-ports|schema|index)\\.ts$" },
  ),
];

const domainFiles = [
  forbid(
    "domains-have-one-door",
    "A domain is entered through its doors only: index.ts, and for-….ts for one consumer.",
    DOMAIN,
    `^server/src/domains/(?!$1/)(${Object.keys(DOMAINS).join("|")})/${NO_DOOR}`,
  ),
  forbid(
    "doors-have-one-consumer",
    "A door called for-X.ts serves the domain X alone; what several use is in index.ts.",
    "^server/src/(domains/people/|domains/supply/|domains/rental/|domains/money/|domains/|)([^/]+)/",
    "^server/src/domains/.+/for-(?!$2\\.ts$)[a-z-]+\\.ts$",
  ),
  forbid(
    "assembly-uses-doors",
    "main.ts and assembly/ see a domain's doors, nothing behind them.",
    "^server/src/([^/]+\\.ts$|assembly/)",
    `${DOMAIN}${NO_DOOR}`,
  ),
  forbid(
    "stores-are-the-bottom",
    "A store holds SQL on its own domain's tables; it calls neither use cases nor views.",
    "^server/src/domains/.+[/-]store\\.ts$",
    "^server/src/domains/.+([/-](routes|service|views)\\.ts$|/loops/)",
    AT_RUN_TIME,
  ),
  forbid(
    "services-know-no-routes",
    "Use cases are called by routes, loops and other domains; they call none of these.",
    "^server/src/domains/.+[/-](service|views)\\.ts$",
    "^server/src/domains/.+([/-]routes\\.ts$|/loops/)",
  ),
  forbid(
    "rules-are-pure",
    "A rules file decides from data it is given, so that it can be tested and read alone: base, protocol, types and " +
      "other rules are all that it may import.",
    RULES,
    "",
    {
      ...AT_RUN_TIME,
      pathNot: [RULES, "^server/src/base/", "^protocol/", "node_modules/typebox/", "^(node:)?(crypto|zlib|util)$"],
    },
  ),
  ...Object.entries(DOMAINS).map(([domain, others]) =>
    forbid(
      `${domain.replace("/", "-")}-knows`,
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
  forbid(
    "no-cycles",
    "Modules that import each other, be it for types alone, can only be read and tested together: put what both need below them.",
    "",
    "",
    { circular: true },
  ),
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
  forbidden: [...rooms, ...layers, ...domainFiles, ...general],
  options: {
    // TypeScript 7 has no programming interface: with the default parser nothing would be read, and nothing reported.
    parser: "swc",
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    // The examples of the SDK import its package, which is not installed here; a test runs them where it is.
    exclude: { path: "(^|/)node_modules/\\.|^\\.berth/|^console/(dist|\\.build-)|^sdk/examples/" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "types", "default"] },
  },
};
