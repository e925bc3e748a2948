import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";

const PATH = "/api/v0/users/cloud/";
const SECRET = "storage-secret-canary-0123456789";
const S3 = { provider: "s3", user_given_name: "backups", access_key: "AKIACANARY012345", secret_access_key: SECRET };
const B2 = { provider: "b2", user_given_name: "b2", key_id: "004acanary", application_key: SECRET };
const HF = {
  provider: "hf",
  user_given_name: "hub",
  access_key: "HFAKCANARY",
  secret_access_key: SECRET,
  namespace: "me",
};

test("connections are stored, listed without their keys, and deleted", async (t) => {
  const world = await testApp(t);
  const { secret } = await world.caller();
  const send = (method: "POST" | "DELETE", body: unknown) => world.call({ method, url: PATH, secret, body });
  const s3 = { ...S3, endpoint: "https://s3.example.com:9000/", region: "eu-central-1" };
  const ids: number[] = [];
  for (const body of [s3, B2, HF]) {
    const made = await send("POST", body);
    assert.equal(made.status, 200, made.text);
    assert.equal(made.body.success, true);
    ids.push(made.body.id);
  }
  const [one, two, three] = ids;
  const integrations = await world.call({ url: "/api/v0/users/cloud_integrations/", secret });
  assert.deepEqual(JSON.parse(integrations.text), [
    { id: one, name: "backups", cloud_type: "s3" },
    { id: two, name: "b2", cloud_type: "b2" },
    { id: three, name: "hub", cloud_type: "hf" },
  ]);
  const listed = await world.call({ url: PATH, secret });
  const rows: readonly Record<string, unknown>[] = JSON.parse(listed.text);
  const none = { endpoint: null, region: null, namespace: null };
  assert.deepEqual(
    rows.map(({ created_at: _, ...row }) => row),
    [
      {
        id: one,
        cloud_service_id: 2,
        cloud_type: "s3",
        user_given_name: "backups",
        ...none,
        endpoint: "https://s3.example.com:9000",
        region: "eu-central-1",
      },
      { id: two, cloud_service_id: 3, cloud_type: "b2", user_given_name: "b2", ...none },
      { id: three, cloud_service_id: 5, cloud_type: "hf", user_given_name: "hub", ...none, namespace: "me" },
    ],
  );
  const stranger = await world.caller();
  assert.equal(
    (await world.call({ method: "DELETE", url: PATH, secret: stranger.secret, body: { id: one } })).status,
    404,
  );
  assert.equal((await send("DELETE", { id: one })).status, 200);
  const again = await send("DELETE", { id: one });
  assert.deepEqual([again.status, again.body.error, again.body.field], [404, "no_such_connection", "id"]);
});

test("keys are in no answer, complaint, audit event or column in clear", async (t) => {
  const world = await testApp(t);
  const { secret } = await world.caller();
  const headers = { "idempotency-key": "connect" };
  const answers = [
    await world.call({ method: "POST", url: PATH, secret, body: S3, headers }),
    await world.call({ method: "POST", url: PATH, secret, body: S3, headers }),
    await world.call({ method: "POST", url: PATH, secret, body: { ...S3, secret_access_key: `${SECRET} ü` } }),
    await world.call({ method: "POST", url: PATH, secret, body: { ...S3, provider: "drive" } }),
    await world.call({ url: PATH, secret }),
    await world.call({ url: "/api/v0/audit_logs/", secret }),
  ];
  assert.deepEqual(answers.map(({ status }) => status).slice(0, 5), [200, 200, 400, 400, 200]);
  const listed: readonly unknown[] = JSON.parse(answers[4]?.text ?? "[]");
  assert.equal(listed.length, 1, "the repeated request stored one connection");
  const canaries = [SECRET, S3.access_key];
  for (const canary of canaries) {
    for (const { text } of answers) assert.ok(!text.includes(canary), text);
    assert.ok(!world.complaints.join("").includes(canary), "in a complaint");
    const { rows: tables } = await world.env.pool.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public'",
    );
    for (const { name } of tables) {
      const { rows } = await world.env.pool.query(`select 1 from ${name} as t where position($1 in t::text) > 0`, [
        canary,
      ]);
      assert.equal(rows.length, 0, `${name} holds a key in clear`);
    }
  }
});

test("a wrong field is named, and nothing private or unencrypted is an endpoint", async (t) => {
  const world = await testApp(t);
  const { secret } = await world.caller();
  const endpoints = [
    ...["http://s3.example.com", "https://127.0.0.1", "https://0x7f.1", "https://2130706433", "https://10.0.0.8:9000"],
    ...["https://169.254.169.254", "https://[::1]", "https://[::ffff:127.0.0.1]", "https://[2606:4700::1111]"],
    ...[
      "https://localhost",
      "https://minio",
      "https://minio:9000",
      "https://u:p@s3.example.com",
      "https://s3.example.com/x",
    ],
    ...[
      "https://s3.example.com/?a=1",
      "s3.example.com",
      "https://s3.example.com.",
      "https://",
      `https://${"a".repeat(300)}.com`,
    ],
    ...["https://s3.example.com\r\nx", "file:///etc/passwd", "https://s3.example.com:0"],
  ];
  const wrong: readonly (readonly [object, string])[] = [
    [{}, "provider"],
    [{ ...S3, provider: "floppy" }, "provider"],
    [{ ...S3, provider: "drive", code: "4/0A" }, "provider"],
    [{ provider: "dropbox", code: "c", state: "s" }, "provider"],
    [{ ...S3, user_given_name: " " }, "user_given_name"],
    [{ ...S3, user_given_name: "a\nb" }, "user_given_name"],
    [{ ...S3, user_given_name: "a".repeat(101) }, "user_given_name"],
    [{ ...S3, access_key: "" }, "access_key"],
    [{ ...S3, access_key: "a\nRCLONE_X=1" }, "access_key"],
    [{ ...S3, secret_access_key: undefined }, "secret_access_key"],
    [{ ...S3, region: "EU West" }, "region"],
    [{ ...B2, key_id: undefined }, "key_id"],
    [{ ...B2, application_key: "a b" }, "application_key"],
    [{ ...HF, access_key: "AKIA" }, "access_key"],
    [{ ...HF, namespace: "a/b" }, "namespace"],
    [{ ...HF, namespace: ".." }, "namespace"],
    ...endpoints.map((endpoint) => [{ ...S3, endpoint }, "endpoint"] as const),
  ];
  for (const [body, field] of wrong) {
    const answer = await world.call({ method: "POST", url: PATH, secret, body });
    assert.deepEqual([answer.status, answer.body.field], [400, field], `${JSON.stringify(body)}: ${answer.text}`);
  }
  assert.equal((await world.call({ url: PATH, secret })).text, "[]");
});
