/** Messages between the SSH process and its helper in a container's network. A socket travels with some of them. */
export type NamespaceOrder =
  | { readonly kind: "connect"; readonly id: number; readonly host: string; readonly port: number }
  | { readonly kind: "listen"; readonly id: number; readonly host: string; readonly port: number }
  /** Ends the listener of that number. */
  | { readonly kind: "close"; readonly id: number };

export type NamespaceAnswer =
  /** Sent with the connection. */
  | { readonly kind: "connected"; readonly id: number }
  | { readonly kind: "listening"; readonly id: number; readonly port: number }
  /** Sent with a connection that came to the listener. */
  | { readonly kind: "accepted"; readonly id: number; readonly address: string; readonly port: number }
  | { readonly kind: "failed"; readonly id: number; readonly problem: string };
