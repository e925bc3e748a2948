import type { FieldWords, Words } from "../schemas.ts";

const MOMENT = "seconds since the epoch, an ISO 8601 date or date-time, or MM/DD/YYYY";
const DAYS = '{"day": {"gte": 1767225600, "lte": 1769904000}}';
const EARNED: Words = [
  "JSON of the days, since 1970 or as seconds or dates, and of the machines if wanted; the last 30 days by default",
  '{"day": {"gte": 20454, "lte": 20484}, "machine_id": {"in": [12]}}',
];
const FLAG = "`true` or `false`";
const KIND: Words = ["Only documents of this kind: `invoice`, `receipt`, `statement` or `credit_note`", "invoice"];
const VERIFIED: Words = ["GPUs of verified machines (`yes`, the default), of others (`no`), or `all`", "yes"];
const HOSTING: Words = ["GPUs in data centres (`secure_cloud`), elsewhere (`community`), or `all`, the default", "all"];
const OFFER_COLUMNS: Words = [
  "JSON list of the columns to return; all by default, and names that offers do not have are left out",
  '["id", "gpu_name", "dph_total"]',
];
const OFFER_QUERY: Words = [
  "Search: a query text, or the JSON of conditions `{field: {operator: value}}`",
  "gpu_name=RTX_4090 num_gpus>=1",
];

/** Parameters in the query of operations, by their name or by operation and name. */
const PARAMETERS: FieldWords = {
  after: ["Only links after this number", 0],
  after_token: ["The `next_token` of the page before", "eyJpZCI6MTAwfQ"],
  against: [
    "Number and hash of a link that was exported earlier: the chain of facts must continue from it",
    "812:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  ],
  "api.instance.list_files path": ["Absolute path of the folder; the root without it", "/workspace"],
  "api.instance.delete_file path": ["Absolute path in the instance", "/workspace/old.txt"],
  "api.sso.callback code": ["Code of the issuer, good once", "d4cf8WxP"],
  "api.sso.callback state": ["Text that this server gave the browser on its way", "c1nWfZbY"],
  "api.sso.callback iss": ["Name of the issuer that answers", "https://login.example.com/realms/gpu"],
  "api.sso.callback error": ["Reason of an issuer that signs nobody in", "access_denied"],
  "api.sso.callback error_description": ["Words of the issuer about the reason; nobody is shown them", "Cancelled"],
  "api.admin.disputes all": ["`true` shows accounts whose disputes were all won as well", "true"],
  "api.admin.freezes all": ["`true` shows lifted freezes as well", "true"],
  api_key: ["Key of the endpoint, or of its account", "ept_example_key"],
  before: ["Only events before the event of this id", 5012],
  before_id: ["Only entries with a smaller id than this", 500],
  edate: [`End of the span: ${MOMENT}; a date includes its whole day`, "2026-01-31"],
  sdate: [`Beginning of the span: ${MOMENT}`, "2026-01-01"],
  eday: ["Last day, in days since 1970-01-01, included; today by default", 20_470],
  sday: ["First day, in days since 1970-01-01", 20_454],
  last_days: ["Number of days up to the last, instead of `sday`; 30 by default", 30],
  email: ["E-mail address to invite", "member@example.com"],
  role: ["Name of the role that the new member gets", "member"],
  end: ["End of the span, in seconds since the epoch; now by default", 1_769_904_000],
  start: ["Beginning of the span, in seconds since the epoch; 30 days before the end by default", 1_767_225_600],
  "api.metrics.gpu_history end": [
    "End of the span, in seconds since the epoch or ISO 8601; now by default",
    "2026-01-31T00:00:00Z",
  ],
  "api.metrics.gpu_history start": [
    "Beginning of the span, in seconds since the epoch or ISO 8601; a day before the end by default",
    "2026-01-01T00:00:00Z",
  ],
  step: ["Seconds between two entries; chosen by the length of the span by default", "3600"],
  group_by: ["`day` (the default) or `machine`", "day"],
  format: ["`table` (the default), `tree`, or `lines` for every charge line", "table"],
  from: [`Beginning of the span: ${MOMENT}; the first entry by default`, "2026-01-01"],
  to: [`End of the span: ${MOMENT}; a date includes its whole day; now by default`, "2026-01-31"],
  full: [`${FLAG}: read everything, also what a checkpoint covers, and verify the checkpoints`, "true"],
  gpu_name: ["Models of GPUs with commas between them, `_` for a blank, or `all`", "RTX_4090,RTX_3090"],
  "api.market.history gpu_name": ["Model of the GPU, `_` for a blank", "RTX_4090"],
  "api.market.history num_gpus": ["Counts machines with this number of GPUs only; `all` by default", "all"],
  "api.endpoint.history from": [
    "Beginning of the span, in seconds since 1970; an hour before `to` by default",
    1_767_225_600,
  ],
  "api.endpoint.history to": ["End of the span, in seconds since 1970; now by default", 1_767_229_200],
  "api.endpoint.history step": ["Seconds of a step; a 120th of the span by default", 60],
  "api.billing.spend_days by": ["`instance` (the default), `label`, `endpoint`, `person`, `key` or `kind`", "label"],
  "api.billing.spend_days days": ["Number of days up to today, from 1 to 92; 30 by default", 30],
  "api.template.versions limit": ["Most versions of one answer: at most 100, 20 by default", 20],
  "api.template.outlook type": ["`ondemand` (the default), or `bid` for an interruptible rental", "ondemand"],
  "api.template.outlook num_gpus": ["Number of GPUs; any by default", 1],
  "api.template.outlook gpu_name": ["Model of the GPUs, with blanks or `_`; any by default", "RTX_4090"],
  disk: ["Disk of the instance, in GB; what the template recommends by default", 40],
  "api.market.bid_history gpu_name": ["Model of the GPU, `_` for a blank", "RTX_4090"],
  "api.market.bid_history num_gpus": ["Number of GPUs that the bid is for; 1 by default", 1],
  hours: ["Length of the past to look at, from 1 to 168 hours, which is the default", 168],
  price: ["A bid in dollars an hour for all GPUs, whose outcome `at_price` shows", 0.41],
  days: ["Length of the history in days, from 1 to 400; 7 by default", 7],
  hosting_type: HOSTING,
  id: ["Id of the volume; it may stand in the body instead", 21],
  image: ["Image, `[registry/]repository`; a tag in it is ignored", "pytorch/pytorch"],
  server: ["Host of the registry; that of the image, or Docker Hub, without it", "ghcr.io"],
  inc_charges: [`${FLAG}: include charges for usage`, "true"],
  no_payouts: [`${FLAG}: leave payouts out`, "true"],
  only_payouts: [`${FLAG}: payouts only`, "true"],
  kind: KIND,
  latest_first: [`${FLAG}: the newest first; true by default`, "true"],
  level: ["Finest detail of the events: 0 for the most important ones only, 3 for all", 1],
  limit: ["Most entries of one answer", 25],
  "api.schedule.runs limit": ["Most entries of one answer: at most 1,000, 100 by default", 100],
  "api.admin.list_documents limit": ["Most entries of one answer: at most 500, 100 by default", 100],
  "api.billing.list_all_documents limit": ["Most entries of one answer: at most 500, 100 by default", 100],
  "api.billing.list_documents limit": ["Most entries of one answer: at most 500, 100 by default", 100],
  "api.benchmark.search limit": ["Most benchmarks of one answer: at most 1,000, 200 by default", 200],
  "api.billing.charges limit": ["Most entries of one answer: at most 500, 100 by default", 100],
  "api.earnings.page limit": ["Most entries of one answer: at most 500, 100 by default", 100],
  "api.billing.list_invoices limit": ["Most entries of one answer: at most 500, 60 by default", 60],
  "api.billing.search_invoices limit": ["Most entries of one answer: at most 10,000, 1,000 by default", 1000],
  "api.instance.measurements from": [`Beginning, as ${MOMENT}; an hour before the end by default`, "1767225600"],
  "api.instance.measurements to": [`End, as ${MOMENT}; now by default`, "1767229200"],
  "api.instance.measurements resolution": [
    "Length of a step in seconds: the answer has the next longer one kept",
    "60",
  ],
  "api.instance.sparks ids": ["Ids of at most 200 instances, with commas between them", "77,78"],
  "api.machine.measurements from": [`Beginning, as ${MOMENT}; an hour before the end by default`, "1767225600"],
  "api.machine.measurements to": [`End, as ${MOMENT}; now by default`, "1767229200"],
  "api.machine.measurements resolution": ["Length of a step in seconds: the answer has the next longer one kept", "60"],
  "api.instance.events limit": ["Most entries of one answer: at most 500, 100 by default", 100],
  "api.instance.page limit": ["Most instances of one answer: at most 25, which is the default", 25],
  "api.notice.list limit": ["Most entries of one answer: at most 100, 25 by default", 25],
  "api.template.search limit": ["Most templates of one answer: at most 1,000, which is the default", 100],
  "api.template.page limit": ["Most templates of one answer: at most 1,000, 100 by default", 100],
  last_page_last_used_at: ["The `last_page_last_used_at` of the page before", 1_767_225_600],
  last_page_template_id: ["The `last_page_template_id` of the page before", 31],
  page_size: ["Most templates of one answer: at most 100, 20 by default", 20],
  search: ["Text that the name, the image or the description contains, in any case", "pytorch"],
  machid: ["Id of the only machine to report; all machines by default", 12],
  machine_ids: ["JSON list of ids of machines; all machines by default", "[12, 13]"],
  month: ["Month of issue (UTC)", "2026-03"],
  num_gpus: ["Always `all`: GPUs are counted one by one, on every machine", "all"],
  offset: ["Templates to skip", 0],
  open: ["`true` for open flags, `false` for cleared ones; both by default", "true"],
  order_by: ["JSON list of columns and directions", '[{"col": "created_at", "dir": "desc"}]'],
  "api.instance.page order_by": [
    "JSON list of columns and directions; by id by default",
    '[{"col": "id", "dir": "asc"}]',
  ],
  "api.benchmark.search order_by": [
    "JSON list of columns and directions; by id by default",
    '[{"col": "value", "dir": "desc"}]',
  ],
  "api.earnings.page order_by": [
    "JSON list of `day` or `machine_id`, or sums, with a direction; by day or machine by default",
    '[{"col": "total_earn", "dir": "desc"}]',
  ],
  "api.billing.list_invoices order_by": [
    "JSON list of one of `when`, `paid_on` and `amount_cents` with a direction",
    '[{"col": "when", "dir": "desc"}]',
  ],
  q: ["Search: a query text, or the JSON of conditions `{field: {operator: value}}`", "disk_space>=100"],
  "api.offer.query q": OFFER_QUERY,
  "api.offer.query_asks q": OFFER_QUERY,
  "api.offer.query select_cols": OFFER_COLUMNS,
  "api.offer.query_asks select_cols": OFFER_COLUMNS,
  select_cols: ["JSON list of the columns to return; all by default", '["id", "label"]'],
  select_filters: ["JSON object of conditions, `{column: {operator: value}}`", '{"id": {"gte": 1}}'],
  "api.benchmark.search query": [
    "Conditions in the query language, beside `select_filters`; `score` is another name of `value`",
    "score>1000 type=perf",
  ],
  "api.benchmark.search select_cols": ["JSON list of the columns to return; all by default", '["machine_id", "value"]'],
  "api.benchmark.search select_filters": [
    "JSON object of conditions, `{column: {operator: value}}`",
    '{"type": {"eq": "perf"}, "gpu_name": {"eq": "RTX 4090"}}',
  ],
  "api.billing.charges select_filters": [
    'JSON of the days, and of the types if wanted: `{"type": {"in": ["instance"]}}`',
    DAYS,
  ],
  "api.billing.charges_chart select_filters": [
    'JSON of the days, the last 30 by default, and of the types if wanted: `{"type": {"in": ["instance"]}}`',
    DAYS,
  ],
  "api.earnings.page select_filters": EARNED,
  "api.earnings.chart select_filters": EARNED,
  "api.billing.list_invoices select_filters": [
    'JSON of the span, and of the service if wanted: `{"service": {"eq": "transfer"}}`',
    '{"when": {"gte": 1767225600, "lte": 1769904000}}',
  ],
  state: ["Only payouts in this state", "pending"],
  type: ["Volumes to return; both kinds by default", "local_volume"],
  kinds: ["Kinds of events, separated by commas; all that the key may see by default", "instance,balance"],
  last_event_id: [
    "Id of the last event that the client has seen, to resume behind it; the header `Last-Event-ID` comes first",
    "7412",
  ],
  "api.instance.follow_logs follow": ["False to end the answer after what is there; true by default", false],
  "api.instance.follow_logs last_event_id": [
    "Id of the last event that the client has seen, to resume behind it; the header `Last-Event-ID` comes first",
    "1767225600000000001-0",
  ],
  "api.instance.follow_logs tail": [
    "Pieces, which are lines unless they are very long, to begin with; 1000 by default",
    100,
  ],
  follow: ["False to end the answer after the events that were missed; true by default", false],
  unread: ["True for notifications that are not read only", true],
  user_id: ["Id of the account, or `me` or `current`; `me` by default", "me"],
  verified: VERIFIED,
};

/** The sentence and example of a parameter in the query of an operation. */
export function queryWords(operation: string, name: string): Words | undefined {
  return PARAMETERS[`${operation} ${name}`] ?? PARAMETERS[name];
}
