// Between the agent and its SSH process, which trust each other.

/** A container to be reached and how. */
export type DoorOrder = {
  readonly instance_id: number;
  readonly container_id: string;
  readonly namespace_path: string;
  /** On the bind address; null when only tunnels lead to it. */
  readonly port: number | null;
  readonly authorized_keys: readonly string[];
  /** The private host key as PEM. */
  readonly host_key: string;
};

export type AgentMessage =
  /** The first one, once. */
  | { readonly kind: "begin"; readonly docker_socket: string; readonly bind_address: string }
  /** All there are; those not named are closed. */
  | { readonly kind: "doors"; readonly doors: readonly DoorOrder[] }
  | { readonly kind: "tunnel"; readonly instance_id: number; readonly url: string; readonly token: string };

export type SshMessage = {
  readonly kind: "log";
  readonly level: "info" | "warn" | "debug";
  readonly fields: object;
  readonly message: string;
};
