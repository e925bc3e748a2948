import fc from "fast-check";
import { sshBlob } from "../support/ssh-keys.ts";
import type { ApiOperation, JsonSchema } from "./openapi.ts";
import { textOfAny } from "../support/any-text.ts";

/** A request as a client of unknown intent might send it. */
export type AnyRequest = {
  readonly operation: ApiOperation;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string | undefined;
};

/** Texts that have broken parsers, databases and arithmetic before. */
const NASTY_TEXTS = [
  ...["", " ", "null", "undefined", "NaN", "Infinity", "true", "me", "0", "-1", "1e400", "0x10", "1_000", "١٢", "１"],
  ...["2147483647", "2147483648", "9007199254740993", "99999999999999999999", "-9223372036854775809", "0.1", "1e-7"],
  ...["\u0000", "\ud800", "\udc00x", "\u202e", "\ufeff", "\u2028", "\r\nX-Injected: 1", "🦄".repeat(200)],
  ...["'; drop table users; --", '" or 1=1', "%", "_", "\\", "${7*7}", "{{7*7}}", "../../etc/passwd", "$(id)", "`id`"],
  ...[
    "{}",
    "[]",
    '{"a":',
    "[[[[",
    '{"__proto__":{}}',
    "a".repeat(5000),
    "1970-01-01",
    "2024-13-45",
    "01/02/2024",
    "-0",
  ],
];
const NASTY_NUMBERS = [
  ...[0, -0, 1, -1, 0.5, 0.001, 0.0009, 32, 32.001, 1e-9, 1e15, 1e16, 1e308, -1e308, 5e-324],
  ...[2 ** 31 - 1, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 2 ** 63, -(2 ** 31), 0.1 + 0.2],
];
const FIELDS = [
  ..."id name image tag hash_id creator_id created_at count_created recommended recommended_disk_space use_ssh".split(
    " ",
  ),
  ..."num_gpus gpu_name dph_total rentable machine_id geolocation reliability2 disk_space verified label".split(" "),
  ..."actual_status start_date score nothing __proto__ constructor".split(" "),
];
const OPERATORS = ["eq", "neq", "lt", "lte", "gt", "gte", "in", "notin", "nin", "like", "__proto__"];

const anyText = fc.oneof(fc.constantFrom(...NASTY_TEXTS), fc.string({ maxLength: 12 }), textOfAny({ maxLength: 12 }));
const anyNumber = fc.oneof(fc.constantFrom(...NASTY_NUMBERS), fc.integer(), fc.double({ noNaN: true }), smallId());
const anyScalar = fc.oneof(anyText, anyNumber, fc.boolean(), fc.constant(null));
const anyJson = fc.oneof(
  { weight: 3, arbitrary: anyScalar },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.array(anyScalar, { maxLength: 4 }) },
);

/** Filters such as `{"num_gpus": {"gte": 2}}`, well-formed or nearly. */
const filters = fc.dictionary(
  fc.oneof(fc.constantFrom(...FIELDS), anyText),
  fc.oneof(
    fc.dictionary(fc.constantFrom(...OPERATORS), fc.oneof(anyScalar, fc.array(anyScalar, { maxLength: 3 })), {
      maxKeys: 3,
    }),
    anyJson,
  ),
  { maxKeys: 4 },
);
const order = fc.array(
  fc.oneof(
    fc.tuple(fc.constantFrom(...FIELDS), fc.constantFrom("asc", "desc", "up")),
    fc.record({ col: fc.constantFrom(...FIELDS), dir: fc.constantFrom("asc", "desc", "up") }, { requiredKeys: [] }),
    anyJson,
  ),
  { maxLength: 3 },
);
const flag = fc.oneof(
  fc.constantFrom(
    "-e A=1",
    "-e 'B=x y'",
    '-e C="q"',
    "-p 80:80",
    "-p 70000:70000",
    "-p 53:53/udp",
    "-p 1",
    "-h name",
    "-v V.1:/data",
  ),
  fc.constantFrom(
    "--privileged",
    "-v /:/host",
    "--gpus all",
    "-e",
    "-e =",
    "'",
    '"',
    "-e A",
    "-p 99999999:1",
    "--device=/dev/kvm",
  ),
  anyText,
);
const launchFlags = fc.array(flag, { maxLength: 5 }).map((flags) => flags.join(" "));
const asText = <T>(value: fc.Arbitrary<T>) => value.map((one) => JSON.stringify(one));

/** Usual values of a parameter of this name, so that requests get past the first check often enough. */
const BY_NAME: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  select_filters: asText(filters),
  select_cols: asText(fc.oneof(fc.array(fc.constantFrom(...FIELDS, "*"), { maxLength: 4 }), anyJson)),
  order_by: asText(order),
  q: fc.oneof(asText(filters), fc.constantFrom("num_gpus>=2 gpu_name=RTX_4090", "gpu_ram>=", "a b c"), filters),
  order,
  extra_filters: filters,
  env: fc.oneof(launchFlags, fc.dictionary(anyText, anyJson, { maxKeys: 3 })),
  image: fc.constantFrom("alpine", "ubuntu:24.04", "a/b:c@sha256:x", "UPPER", "registry.example:5000/x", "-x", "a b"),
  runtype: fc.constantFrom("args", "ssh", "jupyter", "ssh_direc ssh_proxy", "nothing"),
  ssh_key: fc.oneof(
    fc.integer({ min: 0, max: 20 }).map((number) => sshKeyOf(number)),
    anyText,
  ),
  key: fc.constantFrom("TOKEN", "token_2", "HF_TOKEN", "PATH", "1x", ""),
  value: fc.constantFrom("abc", "a b", "x-1.2_3", ""),
  file_hash: fc.constantFrom("ab".repeat(32), "cd".repeat(32), "x"),
  file_size: fc.constantFrom(1, 20_480, 0, 1e15),
  month: fc.constantFrom("2026-03", "2026-13", "03/2026"),
  type: fc.constantFrom("ondemand", "bid", "local_volume", "all_volume", "nothing"),
  allocated_storage: fc.constantFrom(8, 40, "5", -1),
  target_reliability: fc.constantFrom(0.5, 0.9, 2),
  args: fc.constantFrom(["--port", "8000"], "--port 8000", "'", ""),
  args_str: fc.constantFrom("--port 8000", "'", ""),
  image_login: fc.constantFrom("-u me -p secret docker.io", "-u me", ""),
  user: fc.oneof(fc.constantFrom("root", "1000:1000", "user1@example.com", "3", "a b"), anyText),
  jupyter_dir: fc.constantFrom("/workspace", ""),
  email: fc.oneof(
    fc.uuid().map((id) => `${id.slice(0, 13)}@example.com`),
    anyText,
  ),
  recipient: fc.oneof(fc.constantFrom("user1@example.com", "user2@example.com", "user3@example.com"), anyText),
  amount: fc.oneof(fc.constantFrom(0.01, 0.009, 1, 0.015), anyNumber),
  permissions: fc.dictionary(
    fc.constantFrom("api", "x"),
    fc.dictionary(fc.constantFrom("misc", "user_read", "x"), anyJson),
  ),
  end_date: fc.oneof(fc.constantFrom(4_000_000_000, 1, 1e18), anyNumber),
  mount_path: fc.constantFrom("/data", "/", "data", "/a/../b", "/proc", "/a b"),
  price: fc.oneof(fc.constantFrom(0.001, 1, 32, 33), anyNumber),
  sdate: anyText,
  edate: anyText,
};

/** An SSH key made from the number, so that a seed sends the same requests again. */
function sshKeyOf(number: number): string {
  return `ssh-ed25519 ${sshBlob("ssh-ed25519", Buffer.alloc(32, number + 1)).toString("base64")} fuzz`;
}

function smallId(): fc.Arbitrary<number> {
  return fc.integer({ min: 1, max: 12 });
}

/** A value for the schema, mostly valid, sometimes any. */
function valueOf(schema: JsonSchema, name: string, depth = 0): fc.Arbitrary<unknown> {
  const named = BY_NAME[name];
  const typical = named ?? bySchema(schema, depth);
  return fc.oneof({ weight: 8, arbitrary: typical }, { weight: 1, arbitrary: anyJson });
}

function bySchema(schema: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined && schema.enum.length > 0) return fc.constantFrom(...schema.enum);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return fc.oneof(...alternatives.map((one) => valueOf(one, "", depth + 1)));
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => bySchema({ ...schema, type }, depth)));
  switch (schema.type) {
    case "integer":
      return fc.oneof({ weight: 4, arbitrary: smallId() }, { weight: 1, arbitrary: anyNumber });
    case "number":
      return anyNumber;
    case "boolean":
      return fc.boolean();
    case "string":
      return anyText;
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(valueOf(schema.items ?? {}, "", depth + 1), { maxLength: 4 });
    case "object":
      return depth > 3 ? filters : objectOf(schema, depth);
    default:
      return fc.oneof(anyJson, filters);
  }
}

function objectOf(schema: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  const properties = Object.entries(schema.properties ?? {});
  const known = fc.record(Object.fromEntries(properties.map(([name, one]) => [name, valueOf(one, name, depth + 1)])), {
    requiredKeys: [],
  });
  // All that it knows in three of eight cases, since what is required is not much of it.
  const whole = fc.record(Object.fromEntries(properties.map(([name, one]) => [name, valueOf(one, name, depth + 1)])));
  // No more than it must have in two of eight, since each further value may be the wrong one.
  const least = fc.record(
    Object.fromEntries(
      properties
        .filter(([name]) => schema.required?.includes(name) === true)
        .map(([name, one]) => [name, valueOf(one, name, depth + 1)]),
    ),
  );
  const more = fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: filters });
  const own = fc.oneof(
    { weight: 3, arbitrary: known },
    { weight: 3, arbitrary: whole },
    { weight: 2, arbitrary: least },
  );
  return fc.tuple(own, more).map(([fields, extra]) => ({ ...fields, ...extra }));
}

function pathOf(operation: ApiOperation): fc.Arbitrary<string> {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const one = fc.oneof(
    { weight: 5, arbitrary: smallId().map(String) },
    { weight: 1, arbitrary: fc.constantFrom("me", "current") },
    { weight: 1, arbitrary: anyText.map(encode) },
    { weight: 1, arbitrary: fc.constantFrom("%00", "%ff", "%", "%2e%2e", "1%2f2", "+1", "1.0", "1;x") },
  );
  const filled = fc.tuple(...names.map(() => one)).map((values) => {
    let index = 0;
    return operation.path.replace(/\{\w+\}/g, () => values[(index += 1) - 1] ?? "");
  });
  const shape = fc.oneof(
    { weight: 6, arbitrary: fc.constant((path: string) => path) },
    { weight: 1, arbitrary: fc.constant((path: string) => path.replace(/\/$/, "")) },
    { weight: 1, arbitrary: fc.constant((path: string) => path.replace("/api", "//api").replace(/\/$/, "//")) },
  );
  return fc.tuple(filled, shape).map(([path, change]) => change(path));
}

function queryOf(operation: ApiOperation): fc.Arbitrary<string> {
  const declared = operation.parameters.filter((one) => one.in === "query");
  const known = fc.record(Object.fromEntries(declared.map(({ name, schema }) => [name, valueOf(schema, name)])), {
    requiredKeys: [],
  });
  const strange = fc.dictionary(anyText, anyText, { maxKeys: 2 });
  return fc
    .tuple(
      fc.oneof({ weight: 3, arbitrary: known }, { weight: 1, arbitrary: fc.constant({}) }),
      fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: strange }),
    )
    .map(([own, more]) => {
      const pairs = Object.entries({ ...own, ...more }).map(([name, value]) => {
        const text = typeof value === "string" ? value : JSON.stringify(value);
        return `${encode(name)}=${encode(text)}`;
      });
      return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
    });
}

type Content = { readonly payload: string | undefined; readonly type: string | undefined };

function contentOf(operation: ApiOperation): fc.Arbitrary<Content> {
  const json = "application/json";
  const none: fc.Arbitrary<Content> = fc.constant({ payload: undefined, type: undefined });
  if (operation.method === "GET") return none;
  const fitting = (operation.body === undefined ? fc.constant({}) : bySchema(operation.body, 0)).map((body) => ({
    payload: JSON.stringify(body),
    type: json,
  }));
  const strange = fc.oneof(
    anyJson.map((body) => ({ payload: JSON.stringify(body), type: json })),
    anyText.map((payload) => ({ payload, type: json })),
    fc
      .constantFrom(
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/json; charset=utf-16",
        "x",
      )
      .map((type) => ({ payload: "{}", type })),
    fc
      .constantFrom("[".repeat(100_000), '{"a":'.repeat(40) + "1" + "}".repeat(40))
      .map((payload) => ({ payload, type: json })),
    none,
  );
  return fc.oneof({ weight: 7, arbitrary: fitting }, { weight: 1, arbitrary: strange });
}

/** Any request to any of these operations. */
export function anyRequest(operations: readonly ApiOperation[]): fc.Arbitrary<AnyRequest> {
  return fc.oneof(
    ...operations.map((operation) =>
      fc
        .record({
          path: fc.tuple(pathOf(operation), queryOf(operation)).map(([path, query]) => `${path}${query}`),
          content: contentOf(operation),
          repeat: fc.oneof(
            { weight: 5, arbitrary: fc.constant(undefined) },
            { weight: 1, arbitrary: fc.constantFrom("a", "b", "", "x".repeat(256)) },
          ),
        })
        .map(({ path, content, repeat }) => ({
          operation,
          path,
          payload: content.payload,
          headers: {
            ...(content.type === undefined ? {} : { "content-type": content.type }),
            ...(repeat === undefined ? {} : { "idempotency-key": repeat }),
          },
        })),
    ),
  );
}

/** Percent-encodes text that may hold half a surrogate pair, which encodeURIComponent refuses. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
