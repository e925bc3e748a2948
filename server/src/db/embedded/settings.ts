export const SOCKET_PORT = 5432;

export type PostgresSettings = {
  readonly socketDirectory: string;
  /** The file of rules for logins (`pg_hba.conf`). */
  readonly rulesFile: string;
  /** False for databases of tests, which may lose everything at a power cut and are twice as fast for it. */
  readonly isDurable: boolean;
};

/** Settings for the command line of each start, so that a new version of Berth never meets an old configuration file. */
export function settingsArguments({ socketDirectory, rulesFile, isDurable }: PostgresSettings): readonly string[] {
  const settings: Record<string, string> = {
    listen_addresses: "",
    port: String(SOCKET_PORT),
    unix_socket_directories: quoteListItem(socketDirectory),
    unix_socket_permissions: "0700",
    hba_file: rulesFile,
    max_connections: "45",
    superuser_reserved_connections: "5",
    max_wal_senders: "2",
    // No subscriptions here, so no process that waits for them.
    max_logical_replication_workers: "0",
    shared_buffers: "128MB",
    work_mem: "8MB",
    maintenance_work_mem: "64MB",
    wal_compression: "on",
    max_wal_size: "1GB",
    // Worker processes for reading ahead cost memory and gain nothing on a database that fits the cache.
    io_method: "sync",
    jit: "off",
    autovacuum: "on",
    autovacuum_naptime: "15s",
    timezone: "UTC",
    log_timezone: "UTC",
    datestyle: "ISO",
    // The log holds events, never written values: statements and row details may carry secrets.
    logging_collector: "off",
    log_line_prefix: "%m [%p] ",
    log_min_messages: "warning",
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
    log_checkpoints: "off",
    log_parameter_max_length: "0",
    log_parameter_max_length_on_error: "0",
    ...(isDurable ? DURABLE : FOR_TESTS),
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

const DURABLE = { fsync: "on", synchronous_commit: "on", full_page_writes: "on" };
const FOR_TESTS = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "200",
  autovacuum_naptime: "60s",
};

/** The setting is a list: an item with blanks, commas or quotes must be quoted itself. */
function quoteListItem(directory: string): string {
  return `"${directory.replaceAll('"', '""')}"`;
}
