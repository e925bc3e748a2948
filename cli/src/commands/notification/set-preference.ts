import { notificationPreferenceShow, notificationPreferenceUpdate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & { readonly json?: boolean; readonly email?: string; readonly webhooks?: string };

export async function setPreference(type: string, options: Options): Promise<void> {
  const { email, webhooks } = options;
  if (email === undefined && webhooks === undefined)
    throw new UserError("No channel is given.", "Give --email, --webhooks, or both.");
  const client = connect(options);
  const { notification_preferences: present } = await notificationPreferenceShow(client, { user_id: "me" });
  const [context = "", slug = ""] = type.split(":");
  const channels = {
    ...present[context]?.[slug],
    ...(email === undefined ? {} : { email: email === "on" }),
    ...(webhooks === undefined ? {} : { webhooks: webhooks === "on" }),
  };
  const changed = { ...present, [context]: { ...present[context], [slug]: channels } };
  const answer = await notificationPreferenceUpdate(client, {
    user_id: "me",
    body: { notification_preferences: changed },
  });
  printAnswer(answer, options, ({ notification_preferences: now }) => {
    const held = now[context]?.[slug];
    const say = (isOn: boolean | undefined) => (isOn === true ? "on" : "off");
    return `${type}: e-mail ${say(held?.["email"])}, webhooks ${say(held?.["webhooks"])}.`;
  });
}
