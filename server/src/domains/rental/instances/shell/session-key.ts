import ssh2 from "ssh2";

export type SessionKey = { readonly public: string; readonly private: string };

/**
 * A fresh key for one login. About one in 250 keys that version 1.17.0 of the library makes cannot be read by itself, for a
 * zero byte at their beginning: those are made again.
 */
export function makeSessionKey(): SessionKey {
  for (;;) {
    const key = ssh2.utils.generateKeyPairSync("ed25519");
    const isReadable = [key.private, key.public].every((half) => !(ssh2.utils.parseKey(half) instanceof Error));
    if (isReadable) return key;
  }
}
