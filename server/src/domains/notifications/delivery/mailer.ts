import { createTransport } from "nodemailer";
import type { Mail } from "./rules/mail.ts";
import type { Outcome } from "./rules/retry.ts";

/** Sends one e-mail and returns the outcome. */
export type Mailer = {
  readonly from: string;
  send(mail: Mail): Promise<Outcome>;
  close(): void;
};

export type MailSettings = {
  /** The mail server's URL: `smtp://user:password@host:587` or `smtps://…`. */
  readonly smtpUrl: string;
  /** The sender: `Berth <berth@example.com>`. */
  readonly from: string;
};

const TIMEOUT_MS = 20_000;

/** A mailer over the operator's SMTP server. It connects when there is a mail to send. */
export function createMailer({ smtpUrl, from }: MailSettings): Mailer {
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // A mail is text from the server's database; no part of it may name a file or an address whose content is read
    // instead.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    from,
    async send({ to, subject, text, messageId }) {
      try {
        const recipient = { name: "", address: to };
        await transport.sendMail({
          from,
          to: recipient,
          subject,
          text,
          messageId,
          headers: { "Auto-Submitted": "auto-generated" },
        });
        return { kind: "delivered", text: "accepted by the mail server" };
      } catch (error) {
        return judgeFailure(error);
      }
    },
    close: () => transport.close(),
  };
}

/** A mail that the server refuses for good is not tried again; every other failure may be temporary. */
function judgeFailure(error: unknown): Outcome {
  const { responseCode, code } = (typeof error === "object" && error !== null ? error : {}) as {
    readonly responseCode?: unknown;
    readonly code?: unknown;
  };
  // Codes 530 to 538 are about this server's login: the operator's mistake, which can be corrected.
  const isForGood = typeof responseCode === "number" && responseCode >= 550 && responseCode < 560;
  const reason = typeof code === "string" ? code : "no reason given";
  const said = typeof responseCode === "number" ? `answered ${responseCode}` : `failed (${reason})`;
  return { kind: isForGood ? "refused" : "retry", text: `the mail server ${said}` };
}
