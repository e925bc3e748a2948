import { ConfigError } from "./config-error.ts";

/** The settings of mail, both or neither: a server to hand mail to, and an address that it comes from. */
export function readMail(smtpUrl: string | undefined, from: string | undefined) {
  if (!smtpUrl && !from) return undefined;
  if (!smtpUrl) throw new ConfigError("BERTH_MAIL_FROM needs BERTH_SMTP_URL as well");
  // It may hold a password, so it is not repeated.
  const isSmtp =
    URL.canParse(smtpUrl) && /^smtps?:$/.test(new URL(smtpUrl).protocol) && new URL(smtpUrl).hostname !== "";
  if (!isSmtp) throw new ConfigError("BERTH_SMTP_URL must look like smtp://user:password@mail.example.com:587");
  if (!from || !/^[^\p{Cc}]*@[A-Za-z0-9.-]+>?$/u.test(from)) {
    throw new ConfigError(`BERTH_MAIL_FROM must be an address such as Berth <berth@example.com>, not "${from ?? ""}"`);
  }
  return { smtpUrl, from };
}
