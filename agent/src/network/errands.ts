/** A request that programs inside containers may send to the server through their host; all others are refused. */
type Errand = { readonly methods: readonly string[]; readonly path: RegExp };

const ERRANDS: readonly Errand[] = [
  // Requests of serverless workers.
  { methods: ["POST"], path: /^\/(worker_status|delete_requests)\/?$/ },
  { methods: ["GET"], path: /^\/pubkey\/?$/ },
  { methods: ["POST"], path: /^\/api\/v0\/sign_cert\/?$/ },
  // Requests with the key that each instance has for itself.
  { methods: ["GET", "PUT", "DELETE"], path: /^\/api\/v0\/instances\/\d{1,10}\/?$/ },
  { methods: ["PUT"], path: /^\/api\/v0\/instances\/reboot\/\d{1,10}\/?$/ },
  // The code of a deployment.
  { methods: ["GET"], path: /^\/api\/v0\/deployment\/.+$/ },
];

/** Longest request target; all allowed ones are shorter, queries included. */
const TARGET_LENGTH_MAX = 2_000;
/** Paths that every program reads alike: without escapes, empty parts and parts of dots. */
const PLAIN_PATH = /^(\/[\w-][\w.-]*)+\/?$/;
const PLAIN_QUERY = /^[!-~]*$/;

/** True when a request is carried, by its method and its target as they stand in its first line. */
export function isErrand(method: string, target: string): boolean {
  if (target.length > TARGET_LENGTH_MAX) return false;
  const mark = target.indexOf("?");
  const [path, query] = mark === -1 ? [target, ""] : [target.slice(0, mark), target.slice(mark + 1)];
  if (!PLAIN_PATH.test(path) || !PLAIN_QUERY.test(query) || query.includes("#")) return false;
  return ERRANDS.some((errand) => errand.methods.includes(method) && errand.path.test(path));
}
