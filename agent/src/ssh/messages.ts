// Messages between the agent and its SSH process, which trust each other.

/** A container to be reached and how. */
export type DoorOrder = {
  readonly instanceId: number;
  readonly containerId: string;
  readonly namespacePath: string;
  /** The port on the bind address; null when only tunnels lead to the door. */
  readonly port: number | null;
  readonly authorizedKeys: readonly string[];
  /** True when the user of copies alone gets in. */
  readonly isForCopies: boolean;
  /** The private host key as PEM. */
  readonly hostKey: string;
};

export type AgentMessage =
  /** The first message, sent once. */
  | { readonly kind: "begin"; readonly dockerSocket: string; readonly bindAddress: string }
  /** All doors; a door that is not named is closed. */
  | { readonly kind: "doors"; readonly doors: readonly DoorOrder[] }
  | {
      readonly kind: "tunnel";
      readonly instanceId: number;
      readonly url: string;
      readonly token: string;
      /** A public key that logs in through this tunnel alone. */
      readonly sessionKey: string | undefined;
    };

export type SshMessage = {
  readonly kind: "log";
  readonly level: "info" | "warn" | "debug";
  readonly fields: object;
  readonly message: string;
};
