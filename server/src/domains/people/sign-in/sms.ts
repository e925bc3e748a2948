/** A text message to a phone. */
export type SmsMessage = {
  /** The number in the form of E.164, such as +46701234567. */
  readonly to: string;
  readonly text: string;
};

/** Hands a message to the provider; false when the provider did not take it. */
export type SmsSender = (message: SmsMessage) => Promise<boolean>;

/** The provider that the operator chose: an address that takes `{"to", "text"}` as JSON. */
export type SmsSettings = {
  readonly url: string;
  /** Sent as the bearer token; undefined when the address needs none. */
  readonly token?: string | undefined;
};

const TIMEOUT_MS = 10_000;

/** A sender over HTTP. Each status from 200 to 299 means that the provider took the message. */
export function createSmsSender({ url, token }: SmsSettings): SmsSender {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return async (message) => {
    try {
      const answer = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...authorization },
        body: JSON.stringify(message),
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await answer.body?.cancel();
      return answer.ok;
    } catch {
      return false;
    }
  };
}
